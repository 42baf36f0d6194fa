import assert from 'node:assert/strict'
import {
  holdsFor,
  type Operation,
  type operations,
  type Proposal,
  proposalHours,
  Rejection,
  type Reply,
  refuseUnlessSeen,
} from '@backoffice/contracts'
import { placeOfReply } from '@backoffice/database/vault'
import { newId } from '@backoffice/process'
import type { ReceivedCall } from '@backoffice/rpc'
import {
  type ApprovedProposal,
  type Approver,
  type Call,
  type Database,
  type Db,
  type Handler,
  type ReadDb,
  sql,
  type Tools,
  toPage,
  type WithTimes,
  withIsoTimes,
} from '@backoffice/service-runtime'
import { inputDigest, isSame } from '../identity/index.ts'

type Kept = Pick<Proposal, 'id' | 'operation' | 'operationId' | 'proposedBy' | 'state' | 'decidedBy'> & {
  readonly proposedById: string
  readonly decidedById: string | null
  readonly decidedOperationId: string | null
  readonly expiresAt: Date
  readonly fingerprint: string
}

type Given = Readonly<Record<string, unknown>>

interface TwoPeopleCall {
  readonly db: Db
  readonly operation: Operation
  readonly call: Pick<Call, 'approves' | 'caller' | 'input' | 'operationId'>
  readonly now: Date
  /** Whether what was approved may be done again, because doing it again changes nothing. */
  readonly isRepeatable?: boolean
}

/** The approved proposal of a call that may go on. */
interface Approved {
  readonly approved: string
  /**
   * Keeps the whole reply for whoever proposed.
   * @returns false where nobody is shown it
   */
  readonly keep?: (body: unknown, kept: { readonly body: unknown }) => Promise<boolean>
}

type Ask = () => Promise<Approver> | undefined

/** Stands around a handler's own steps: a call that takes two people proposes, or carries out what was proposed. */
export function askSecondPerson(handler: Handler): Handler {
  const { operation } = handler
  const { twoPeople } = operation
  switch (handler.kind) {
    case 'single command': {
      const { command } = handler
      if (twoPeople === undefined && command.approval === undefined) return handler
      const execute: typeof command.execute = async (call, tools, prepared) => {
        const { db, now } = tools
        const two = { db, operation, call, now }
        const second = await decisionBySecond(two, () => command.approval?.(call, { db, now }, undefined))
        if (second instanceof Rejection) return second
        const body = await command.execute(call, tools, prepared)
        if (second?.keep === undefined || command.stored === undefined || body instanceof Rejection) return body
        // What is shown once is for whoever asked for it, and not for whoever agreed.
        const kept = command.stored(body)
        return kept !== null && (await second.keep(body, { body: kept })) ? kept : body
      }
      return { ...handler, command: { ...withApproveFirst(operation, command), execute } }
    }
    case 'batched command': {
      const { command } = handler
      if (twoPeople === undefined && command.approval === undefined) return handler
      const consent: NonNullable<typeof command.consent> = async (call, { db, now }, state) => {
        const second = await decisionBySecond({ db, operation, call, now }, () =>
          command.approval?.(call, { db, now }, state),
        )
        return second instanceof Rejection ? second : undefined
      }
      return { ...handler, command: { ...withApproveFirst(operation, command), consent } }
    }
    case 'direct': {
      const { direct, approval } = handler
      return { ...handler, direct: (call, tools) => directly({ operation, direct, approval, call, tools }) }
    }
    default:
      return handler
  }
}

function withApproveFirst<C extends { readonly prepare?: Prepare }>(operation: Operation, command: C): C {
  const { prepare } = command
  if (prepare === undefined) return command
  return {
    ...command,
    prepare: (call: Call, tools: Tools['prepare']) => {
      const { db, now } = tools
      return prepare(call, Object.assign(tools, { approveFirst: () => approveFirst({ db, operation, call, now }) }))
    },
  }
}
// biome-ignore lint/suspicious/noExplicitAny: only the command's own steps know what it prepares
type Prepare = (call: any, tools: Tools['prepare']) => Promise<unknown>

type DirectHandler = Extract<Handler, { readonly kind: 'direct' }>
interface Directly extends Pick<DirectHandler, 'operation' | 'direct'> {
  readonly approval: DirectHandler['approval'] | undefined
  readonly call: Call
  readonly tools: Tools['direct']
}

async function directly({ operation, direct, approval, call, tools }: Directly): Promise<unknown> {
  const takesSecond = (db: Db, now: Date) =>
    takesSecondPerson(operation, call, () => approval?.(call, { db, now }, undefined))
  const approveAgain = async (db: Db, now: Date) => {
    if (!(await takesSecond(db, now))) return
    const cause = new Error(`${operation.id} takes two people by now`)
    throw new Rejection('SERVICE_UNAVAILABLE', undefined, { cause })
  }
  if (!(await takesSecond(tools.db, tools.now))) return direct(call, Object.assign(tools, { approveAgain }))
  // What was approved may be done again, since it is idempotent by a reference: this process may die before it is done.
  const decided = await tools.db.transaction((db) =>
    proposeOrApprove({ db, operation, call, now: tools.now, isRepeatable: true }),
  )
  if (decided instanceof Rejection) throw decided
  // The proposal is recorded with the call, also when the first person finishes what the second one approved.
  const approved: Call = Object.create(call, { approves: { value: decided.approved, enumerable: true } })
  return direct(approved, Object.assign(tools, { approveAgain: async () => {} }))
}

/** @returns the refusal of a call that another person has to approve, to be committed with its proposal */
async function decisionBySecond(two: TwoPeopleCall, ask: Ask): Promise<Rejection | Approved | undefined> {
  return (await takesSecondPerson(two.operation, two.call, ask)) ? proposeOrApprove(two) : undefined
}

/**
 * The one question about two people, for every kind of operation: by the table where the input alone decides, else by
 * the handler's `approval`. A call that names a proposal is always held against it: the answer could be another one by
 * now, since for the second person the sum of what the first one did alone does not count.
 * @throws {Rejection} of `approval`
 */
async function takesSecondPerson(
  { id, twoPeople }: Operation,
  { input, approves }: Pick<Call, 'approves' | 'input'>,
  ask: Ask,
): Promise<boolean> {
  if (twoPeople !== undefined && approves !== undefined) return true
  const answer = await ask()
  assert(answer !== 'second person' || twoPeople !== undefined, `the table says that ${id} may take two people`)
  const tableAsks =
    twoPeople !== undefined && twoPeople !== 'in production' && holdsFor(twoPeople, input as object as Given)
  return tableAsks || answer === 'second person'
}

interface Proposed {
  readonly input: unknown
  readonly reason: string | null
  readonly fingerprint: string
}

/**
 * The first person proposes by calling; somebody else carries it out with the same call, which names the proposal: so
 * both sign the same operation and input, each with a reason of their own. An approval that comes too late is no new proposal. In
 * the transaction of the effect, or before one that is idempotent by a reference.
 * @returns the refusal of a call that proposes or comes too late, which is to be committed with its proposal; or the
 *   approved proposal of one that may go on
 * @throws {Rejection} PROPOSAL_NOT_FOUND, PROPOSAL_NOT_OPEN, TWO_PEOPLE_REQUIRED
 */
async function proposeOrApprove(two: TwoPeopleCall): Promise<Rejection | Approved> {
  const proposed = proposalOf(two)
  return two.call.approves === undefined ? propose(two, proposed) : approve(two, proposed, two.call.approves)
}

function proposalOf({ operation, call }: Pick<TwoPeopleCall, 'operation' | 'call'>): Proposed {
  const { reason, ...input } = call.input as Given
  return {
    input,
    reason: typeof reason === 'string' ? reason : null,
    fingerprint: fingerprintForTwo(operation, call.input),
  }
}

async function propose(
  { db, operation, call, now, isRepeatable = false }: TwoPeopleCall,
  { input, reason, fingerprint }: Proposed,
): Promise<Rejection | { readonly approved: string }> {
  await db`
    update team_proposal set state = 'expired'
    where fingerprint = ${fingerprint} and state = 'open' and expires_at <= ${now}::timestamptz
  `
  const [known] = await db<Pick<Kept, 'id' | 'proposedBy' | 'expiresAt' | 'state'>>`
    select id, proposed_by, expires_at, state from team_proposal
    where fingerprint = ${fingerprint} and expires_at > ${now}::timestamptz
      and (state = 'open' or (state = 'approved' and ${isRepeatable}))
    order by state desc limit 1
  `
  // Two people agreed to it, and the process that was to do it may have died.
  if (known?.state === 'approved') return { approved: known.id }
  if (known !== undefined) return awaitsApproval(known)
  const { caller, operationId } = call
  const proposal = { id: newId('prp'), proposedBy: caller.name, expiresAt: hoursAfter(now, proposalHours) }
  await db`
    insert into team_proposal (id, operation, fingerprint, input, reason, proposed_by, proposed_by_id, proposed_at, expires_at,
      operation_id, session, proof)
    values (${proposal.id}, ${operation.id}, ${fingerprint}, ${JSON.stringify(input)}::json, ${reason}, ${caller.name},
      ${caller.id}, ${now}::timestamptz, ${proposal.expiresAt}::timestamptz, ${operationId}, ${caller.session}, ${caller.evidence.proof})
  `
  return awaitsApproval(proposal)
}

async function approve(
  { db, isRepeatable = false, ...two }: TwoPeopleCall,
  { reason, fingerprint }: Proposed,
  proposalId: string,
): Promise<Rejection | Approved> {
  const [proposal] = await db<Kept>`${byId(proposalId)} for update`
  const judged = judge(proposal, { ...two, fingerprint, isRepeatable })
  if (judged instanceof Rejection) return keepExpired(db, proposalId, judged)
  if (judged.state !== 'approved') await keepApproval(db, proposalId, { ...two, reason })
  const { proposedById: id, operationId } = judged
  const proposer = { to: id, operationId, fingerprint }
  return { approved: proposalId, keep: (body, kept) => keepForProposer(db, proposer, { body, kept }) }
}

/** What somebody is told is over stays so, also for a call that waited and judges by the time at which it began. */
async function keepExpired(db: Db, proposalId: string, refusal: Rejection): Promise<Rejection> {
  await db`update team_proposal set state = 'expired' where id = ${proposalId}`
  return refusal
}

async function keepApproval(
  db: Db,
  proposalId: string,
  { call, reason, now }: Pick<TwoPeopleCall, 'call' | 'now'> & Pick<Proposed, 'reason'>,
): Promise<void> {
  const { caller, operationId } = call
  await db`
    update team_proposal set state = 'approved', decided_by = ${caller.name}, decided_by_id = ${caller.id}, decided_at = ${now}::timestamptz,
      decided_operation_id = ${operationId}, decision_reason = ${reason},
      decided_session = ${caller.session}, decided_proof = ${caller.evidence.proof}
    where id = ${proposalId}
  `
}

const byId = (proposalId: string) => sql`
  select id, operation, operation_id, fingerprint, proposed_by, proposed_by_id, expires_at, state, decided_by,
    decided_by_id, decided_operation_id
  from team_proposal where id = ${proposalId}
`

interface Approval extends Omit<TwoPeopleCall, 'db'> {
  readonly fingerprint: string
}

/**
 * Whether somebody may carry out a proposal.
 * @returns the refusal of what is open and over, so that its end can be committed
 * @throws {Rejection} PROPOSAL_NOT_FOUND, PROPOSAL_NOT_OPEN, TWO_PEOPLE_REQUIRED
 */
function judge(
  proposal: Kept | undefined,
  { operation, fingerprint, call, now, isRepeatable = false }: Approval,
): Kept | Rejection {
  if (proposal?.operation !== operation.id || proposal.fingerprint !== fingerprint)
    throw new Rejection('PROPOSAL_NOT_FOUND')
  const { proposedBy, proposedById, state, decidedBy, decidedOperationId, expiresAt } = proposal
  // This very call has approved it, in a transaction of its own.
  if (state === 'approved' && decidedOperationId === call.operationId) return proposal
  const isOver = expiresAt <= now
  if (state === 'approved' && isRepeatable && !isOver) return proposal
  if (state !== 'open') throw new Rejection('PROPOSAL_NOT_OPEN', { state, decidedBy })
  if (isOver) return new Rejection('PROPOSAL_NOT_OPEN', { state: 'expired', decidedBy })
  // Two people are people: a machine may propose.
  const { caller } = call
  if (isSame({ id: proposedById, name: proposedBy }, caller) || caller.kind === 'machine')
    throw new Rejection('TWO_PEOPLE_REQUIRED', { proposedBy })
  return proposal
}

/**
 * `approveFirst` of the tools. Whoever approved it may try again by another call within its time: this one may have been
 * broken off.
 */
async function approveFirst({
  db,
  ...two
}: Omit<TwoPeopleCall, 'db' | 'isRepeatable'> & { readonly db: Database }): Promise<ApprovedProposal | undefined> {
  const { approves, caller, operationId } = two.call
  if (approves === undefined) return undefined
  const { reason, fingerprint } = proposalOf(two)
  const decided = await db.transaction(async (tx) => {
    const [proposal] = await tx<Kept>`${byId(approves)} for update`
    const approved = judge(proposal, { ...two, fingerprint, isRepeatable: proposal?.decidedById === caller.id })
    if (approved instanceof Rejection) return keepExpired(tx, approves, approved)
    if (approved.decidedOperationId !== operationId) await keepApproval(tx, approves, { ...two, reason })
    return approved
  })
  if (decided instanceof Rejection) throw decided
  return decided
}

/** Why something is done: the proposer's reason. The second person's says why they agreed. */
export async function reasonOf(
  db: ReadDb,
  { approves, input }: Pick<Call, 'approves'> & { readonly input: { readonly reason: string } },
): Promise<string> {
  if (approves === undefined) return input.reason
  const [proposal] = await db<{ reason: string | null }>`select reason from team_proposal where id = ${approves}`
  return proposal?.reason ?? input.reason
}

/** What both calls of two people have in common, and by which they are known: each has a reason of its own. */
function fingerprintForTwo({ id }: Operation, { reason: _, ...input }: { readonly reason?: unknown }): string {
  return inputDigest([id, input])
}

/** The whole of a reply, for whoever proposed what somebody else carried out: they are shown it once. */
interface ShownOnce {
  /** Their account. */
  readonly to: string
  /** The call that they made: another one, which may take less of a login, shows nothing. */
  readonly fingerprint: string
  /** Null: it was shown. */
  readonly sealed: unknown
}

/**
 * Keeps the whole reply for the proposer, under the id of their call, for as long as replies are kept: until then their call
 * was refused, since it awaited approval.
 * @returns false when that call is not known any more
 */
async function keepForProposer(
  db: Db,
  { to, operationId, fingerprint }: Omit<ShownOnce, 'sealed'> & { readonly operationId: string },
  { body, kept }: { readonly body: unknown; readonly kept: { readonly body: unknown } },
): Promise<boolean> {
  const sealed: unknown = JSON.parse(db.vault.sealJson(JSON.stringify(body), placeOfReply(operationId)))
  const reply = { ...kept, once: { to, fingerprint, sealed } satisfies ShownOnce }
  const rows = await db`
    update operation set reply = ${JSON.stringify(reply)}::json, created_at = statement_timestamp()
    where operation_id = ${operationId} returning true as kept
  `
  return rows.length > 0
}

/**
 * What is kept for the proposer, to whom it is shown once.
 * @returns undefined for anybody else, and where nothing is kept for anybody; the reply without it where it was shown
 */
export async function takeOnce(
  db: Db,
  operation: Operation,
  { caller, input, operationId }: ReceivedCall,
): Promise<{ readonly body: unknown } | undefined> {
  const place = placeOfReply(operationId)
  const [known] = await db<{ reply: unknown }>`
    select reply from operation where operation_id = ${operationId} and reply -> 'once' is not null
  `
  if (known === undefined) return undefined
  const { body, once } = db.vault.openJson(known.reply, place) as { readonly body: unknown; readonly once: ShownOnce }
  if (once.to !== caller?.id || once.fingerprint !== fingerprintForTwo(operation, input as object)) return undefined
  const taken = await db`
    update operation set reply = ${JSON.stringify({ body, once: { ...once, sealed: null } })}::json
    where operation_id = ${operationId} and reply #>> '{once,sealed}' is not null returning true as taken
  `
  if (taken.length === 0 || once.sealed === null) return { body }
  return { body: db.vault.openJson(once.sealed, place) }
}

const awaitsApproval = ({ id, proposedBy, expiresAt }: Pick<Kept, 'id' | 'proposedBy' | 'expiresAt'>) =>
  new Rejection('AWAITS_APPROVAL', { proposalId: id, proposedBy, expiresAt: expiresAt.toISOString() })

const hoursAfter = (now: Date, hours: number) => new Date(now.getTime() + hours * 3_600_000)

type ListProposals = (typeof operations)['gateway']['listProposals']

/** Answers the `listProposals` operation of any service, newest first. One that nobody decided in time is expired. */
export async function readProposals(
  { input }: Call<ListProposals>,
  { db, now }: Tools['query'],
): Promise<Reply<ListProposals>> {
  const { proposalId = null, state = null, before = null, limit } = input
  const rows = await db<WithTimes<Proposal, 'proposedAt' | 'expiresAt' | 'decidedAt'>>`
    select id, operation, input, reason, proposed_by, proposed_by_id, proposed_at, expires_at, operation_id, current as state, decided_by,
      decided_at, decision_reason, case when ${proposalId}::text is not null then proof end as proof, s.id_token, s.anchor
    from (
      select *, case when state = 'open' and expires_at <= ${now}::timestamptz then 'expired' else state end as current
      from team_proposal
    ) p
    -- An ID token is long, and only whoever looks at one proposal verifies it.
    left join team_session s on ${proposalId}::text is not null and s.session = p.session and s.person = p.proposed_by
    where (${proposalId}::text is null or id = ${proposalId}) and (${state}::text is null or current = ${state})
      and (${before}::text is null or id < ${before})
    order by id desc limit ${limit + 1}
  `
  return toPage(rows.map(withIsoTimes), limit, ({ id }) => id)
}

type DeclineProposal = (typeof operations)['gateway']['declineProposal']

/** Who may propose may decline; the proposer takes it back. */
export const declineProposal = (own: readonly Operation[]) => ({
  async execute({ input, caller, operationId }: Call<DeclineProposal>, { db, now }: Tools['execute']) {
    const { proposalId, reason, seen } = input
    const [proposal] = await db<Pick<Kept, 'operation' | 'operationId' | 'state' | 'expiresAt'>>`
      select operation, operation_id, state, expires_at from team_proposal where id = ${proposalId} for update
    `
    if (proposal === undefined) throw new Rejection('PROPOSAL_NOT_FOUND')
    refuseUnlessSeen({ proposalId }, seen, { operation: proposal.operation, operationId: proposal.operationId })
    const { roles = [] } = own.find(({ id }) => id === proposal.operation) ?? {}
    if (!roles.some((role) => caller.roles.has(role))) throw new Rejection('ROLE_REQUIRED', { roles })
    if (proposal.state !== 'open') throw new Rejection('PROPOSAL_NOT_OPEN', { state: proposal.state })
    if (proposal.expiresAt <= now)
      return keepExpired(db, proposalId, new Rejection('PROPOSAL_NOT_OPEN', { state: 'expired' }))
    await db`
      update team_proposal set state = 'declined', decided_by = ${caller.name}, decided_by_id = ${caller.id}, decided_at = ${now}::timestamptz,
        decided_operation_id = ${operationId}, decision_reason = ${reason}
      where id = ${proposalId}
    `
    return { proposalId, state: 'declined' as const }
  },
})
