import {
  type AuditEntry,
  type AuditedChange,
  allOperations,
  type ExportedAuditEntry,
  invalid,
  type ListedAuditEntry,
  type Operation,
  type operations,
  type Reply,
  type ServiceName,
  type TeamTool,
} from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import {
  type Call,
  type Db,
  type Fragment,
  type Outcome,
  type ReadDb,
  sql,
  type Tools,
  toPage,
  type WithTimes,
  withIsoTimes,
} from '@backoffice/service-runtime'
import { auditedInput, subjectAndReason } from '../identity/index.ts'

/** What a page of the trail shows. */
const shownColumns = `
  id text, at timestamptz, actor text, actor_id text, operation text, operation_id text, subject text, reason text, input json,
  outcome text, session text, tool text, changes json
`
/** Proofs are looked at when somebody denies what they did. */
const auditColumns = `${shownColumns}, proof text, proposal text`

/** Who did what, to what and why. */
export interface AuditRow {
  readonly id: string
  readonly actor: string
  /** Null for what a service did by itself. */
  readonly actorId: string | null
  readonly operation: string
  readonly operationId: string
  readonly subject: string | null
  readonly reason: string | null
  readonly input: unknown
  readonly outcome: NonNullable<Outcome['outcome']>
  /** Null where nothing became different. */
  readonly changes: readonly AuditedChange[] | null
  /** Of a person or a machine; null for what a service did by itself. */
  readonly session: string | null
  readonly tool: TeamTool | null
  /** The signed call. With the ID token of the session it proves who called. */
  readonly proof: string | null
  /** The id of the proposal that this call carried out, or tried to. */
  readonly proposal: string | null
}

/** What a service does by itself has no caller. */
export const byService = {
  actorId: null,
  outcome: 'done',
  changes: null,
  session: null,
  tool: null,
  proof: null,
  proposal: null,
} as const

/** Taken from the common shape of the team's operations. */
export function auditRow({ operation, call, outcome = 'done', changes = [] }: Outcome): AuditRow {
  const { name: actor, id: actorId, session, tool, evidence } = call.caller
  const input = auditedInput(operation, call.input as Readonly<Record<string, unknown>>)
  return {
    id: newId('aud'),
    actor,
    actorId,
    operation: operation.id,
    operationId: call.operationId,
    ...subjectAndReason(input),
    input,
    outcome,
    changes: changes.length === 0 ? null : changes,
    session,
    tool,
    proof: evidence.proof,
    proposal: call.approves ?? null,
  }
}

/** Writes audit entries, in the transaction of what they are about. */
export async function insertAudit(db: Db, rows: readonly AuditRow[], now: Date): Promise<void> {
  const entries = rows.map((row) => ({ ...row, at: now }))
  await db`insert into audit_entry ${sql.rows('entry', entries, auditColumns)}`
}

/** Records a team action that keeps its own transaction. Commands are recorded by the runner. */
export function recordAction(
  db: Db,
  operation: Operation,
  call: Outcome['call'],
  now: Date,
  became: Pick<Outcome, 'outcome' | 'changes'> = {},
): Promise<void> {
  return insertAudit(db, [auditRow({ operation, call, ...became })], now)
}

type ListAudit = (typeof operations)['gateway']['listAudit']

/** What only reads, in any service: no name is that of an action too. */
const reads = allOperations.filter(({ kind }) => kind === 'query').map(({ id }) => id)

/** Answers the `listAudit` operation of any service. */
export async function readAudit({ input }: Call<ListAudit>, { db }: Tools['query']): Promise<Reply<ListAudit>> {
  const { actor, subject, operation = null, actionsOnly = false, since = null, limit } = input
  const before = input.before === undefined ? afterAll : placeOf(input.before, '/before')
  const rows = await db<WithTimes<ListedAuditEntry, 'at'>>`
    select ${sql.columns(shownColumns, 'e')}, p.id as proposal_id, p.proposed_by, p.reason as proposal_reason
    from audit_entry e left join team_proposal p on p.id = e.proposal and p.operation = e.operation
    -- Statements of their own, since each uses another index.
    where ${actor === undefined ? sql`true` : sql`e.actor = ${actor}`}
      and ${subject === undefined ? sql`true` : sql`e.subject = ${subject}`}
      and (${operation}::text is null or e.operation = ${operation}::text)
      and e.operation <> all(${actionsOnly ? reads : []}::text[])
      and e.at >= coalesce(${since}::timestamptz, '-infinity')
      and (e.at, e.id) < (${before.at}::timestamptz, ${before.id}::text)
    order by e.at desc, e.id desc
    limit ${limit + 1}
  `
  return toPage(rows.map(withIsoTimes), limit, cursorAt)
}

/** A place in the order of the trail; this one comes after every entry. */
const afterAll = { at: 'infinity', id: '' }

/** The cursor of the page that begins after an entry. */
const cursorAt = ({ at, id }: Pick<AuditEntry, 'at' | 'id'>): string => `${at}/${id}`

/**
 * The place in the trail where a page begins.
 * @param path of the field that has the cursor, as a JSON pointer
 * @throws {Rejection} VALIDATION_ERROR
 */
function placeOf(cursor: string, path: string): typeof afterAll {
  const [, at = '', id = ''] = /^([^/]+)\/([^/]+)$/.exec(cursor) ?? []
  if (id === '' || Number.isNaN(Date.parse(at))) throw invalid('body', path, 'is not a cursor of the trail')
  return { at, id }
}

type ExportAudit = (typeof operations)['gateway']['exportAudit']
type SignedCall = NonNullable<ExportedAuditEntry['proposal']>['proposed']
type Evidence = Pick<SignedCall, 'proof' | 'idToken' | 'anchor'>

/**
 * An entry is written at the end of a transaction and has the time of its beginning, so entries of the last moment may
 * still be missing.
 */
const settledAfterMs = 60_000

/** A call of a proposal. Both have its input, and each a reason of its own. */
type ProposalCall = Omit<SignedCall, 'input'> & { readonly reason: string | null }

interface Row extends WithTimes<AuditEntry, 'at'>, Evidence {
  readonly proposal: {
    readonly id: string
    readonly input: object
    readonly proposed: ProposalCall
    readonly approved: ProposalCall | null
  } | null
}

/**
 * Reads entries of a trail with all that it takes to verify them.
 * @param from a view that shows them (`auditEvidence`), read as `e`
 * @param which what follows `where`
 */
export async function readProvenEntries(db: ReadDb, from: Fragment, which: Fragment): Promise<ExportedAuditEntry[]> {
  const rows = await db<Row>`
    select ${sql.columns(shownColumns, 'e')}, e.proof, e.id_token, e.anchor, e.proposal from ${from} e where ${which}
  `
  return rows.map(({ proposal, ...entry }) => ({
    ...withIsoTimes(entry),
    proposal: proposal && {
      id: proposal.id,
      proposed: signedCall(proposal.proposed, proposal.input),
      approved: proposal.approved && signedCall(proposal.approved, proposal.input),
    },
  }))
}

/** The first of these calls of the team, with all that it takes to verify it. */
export async function readSignedCall(db: ReadDb, from: Fragment, which: Fragment): Promise<SignedCall | null> {
  const [entry] = await readProvenEntries(db, from, sql`e.outcome = 'done' and ${which}`)
  if (entry === undefined) return null
  const { operationId, actor, actorId, at, input, proof, idToken, anchor } = entry
  return { operationId, actor, actorId, at, input, proof, idToken, anchor }
}

const signedCall = ({ reason, at, ...call }: ProposalCall, input: object): SignedCall => ({
  ...call,
  at: new Date(at).toISOString(),
  input: reason === null ? input : { ...input, reason },
})

export const exportAudit =
  (service: ServiceName) =>
  async ({ input }: Call<ExportAudit>, { db, now }: Tools['query']): Promise<Reply<ExportAudit>> => {
    const { from, to, cursor, limit } = input
    if (now.getTime() - Date.parse(to) < settledAfterMs)
      throw invalid('body', '/to', 'must be at least a minute ago, because entries of the last minute are still coming')
    const after = cursor === undefined ? { at: from, id: '' } : placeOf(cursor, '/cursor')
    const entries = await readProvenEntries(
      db,
      sql`${sql.identifier(service)}.audit_evidence`,
      sql`
        e.at >= ${from}::timestamptz and e.at < ${to}::timestamptz
        and (e.at, e.id) > (${after.at}::timestamptz, ${after.id}::text)
        order by e.at, e.id limit ${limit + 1}
      `,
    )
    return toPage(entries, limit, cursorAt)
  }
