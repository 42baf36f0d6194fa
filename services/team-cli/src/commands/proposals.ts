import {
  allOperations,
  type Input,
  isReplySealed,
  type Operation,
  operations,
  type Proposal,
  Rejection,
  type ServiceName,
  seenOf,
  serviceNames,
} from '@backoffice/contracts'
import { lists } from '@backoffice/team-rows'
import { say } from '../output.ts'
import { listed, row, type Work } from '../row.ts'
import { callAll, type Session } from '../session.ts'

const { listProposals, declineProposal } = operations.gateway
const kept = serviceNames.map((service) => ({ service, list: operations[service].listProposals }))
const declines = serviceNames.map((service) => operations[service].declineProposal)
/** What may have been proposed. */
const forTwo = allOperations.filter(({ twoPeople }) => twoPeople !== undefined)

interface Found extends Proposal {
  readonly service: ServiceName
}

export const proposals = [
  listed(lists.proposals, {
    description: 'Calls of all services that take two people, newest first',
    also: kept.map(({ list }) => list),
    fixed: { proposalId: undefined },
    wording: { state: { default: 'open' } },
    // Ids are ordered by time.
    run: ({ session, input }) => callAll(session, kept, input, (a, b) => (a.id < b.id ? 1 : -1)),
  }),
  row({
    path: 'proposals show',
    description: 'Show one proposal',
    operation: listProposals,
    also: kept.map(({ list }) => list),
    arguments: ['proposalId'],
    fixed: { state: undefined, before: undefined, limit: 1 },
    run: showOne,
  }),
  row({
    path: 'proposals approve',
    description: 'Carry out what somebody else proposed',
    // An approval takes what the opposite takes. What it calls is what was proposed.
    operation: declineProposal,
    also: [...kept.map(({ list }) => list), ...forTwo],
    arguments: ['proposalId'],
    look: findSigned,
    confirm: askToApprove,
    run: approve,
  }),
  row({
    path: 'proposals collect',
    description: 'Show the secrets that your approved proposal made: once, and to you alone, for two days',
    operation: listProposals,
    also: [...kept.map(({ list }) => list), ...forTwo],
    arguments: ['proposalId'],
    fixed: { state: undefined, before: undefined, limit: 1 },
    run: collect,
  }),
  row({
    path: 'proposals decline',
    operation: declineProposal,
    also: [...kept.map(({ list }) => list), ...declines],
    arguments: ['proposalId'],
    look: findToDecline,
    run: ({ session, input, seen, operationId }) => {
      const { declineProposal: decline } = operations[seen.service]
      return session.call(decline, { ...input, seen: seenOf(decline, seen) }, operationId)
    },
  }),
]

/** A proposal is kept by the service that carries it out. Its id does not say which that is. */
async function find(session: Session, proposalId: string): Promise<Found> {
  const found = await Promise.all(
    kept.map(async ({ service, list }) => {
      const { data } = await session.call(list, { proposalId, limit: 1 })
      return data.map((proposal) => ({ service, ...proposal }))
    }),
  )
  const [proposal] = found.flat()
  if (proposal === undefined) throw new Rejection('PROPOSAL_NOT_FOUND')
  return proposal
}

type Known = Found & { readonly call: Operation }

/** Whoever answered is not believed: what a proposal says must be what its proposer signed. */
async function findKnown(session: Session, proposalId: string): Promise<{ found: Known; fault: string | null }> {
  const proposal = await find(session, proposalId)
  const { service, operation: id } = proposal
  const call = forTwo.find((candidate) => candidate.service === service && candidate.id === id)
  if (call === undefined) throw new Error(`this program does not know ${service}.${id}: take a newer one`)
  return { found: { ...proposal, call }, fault: await session.faultOf(call, proposal) }
}

async function showOne({ session, input }: Work<typeof listProposals>) {
  const { found, fault } = await findKnown(session, input.proposalId ?? '')
  const { call: _call, proof: _proof, idToken: _idToken, anchor: _anchor, ...proposal } = found
  return { ...proposal, signature: fault === null ? `by ${found.proposedBy}, verified` : `not proven: ${fault}` }
}

async function findSigned({ proposalId }: Input<typeof declineProposal>, session: Session): Promise<Known> {
  const { found, fault } = await findKnown(session, proposalId)
  if (fault === null) return found
  throw new Error(`it is not proven that ${found.proposedBy} signed this, so nobody can approve it here: ${fault}`)
}

/** For so long, and some hours more, services keep what the proposer is shown: later the same call would propose again. */
const keptMs = 48 * 3_600_000

/** The proposer makes the same call again, under the same id, and so gets its reply. */
async function collect({ session, input }: Work<typeof listProposals>): Promise<unknown> {
  const { found } = await findKnown(session, input.proposalId ?? '')
  const { call, state, decidedAt, reason, operationId } = found
  if (state !== 'approved' || decidedAt === null) throw new Error(`nobody has agreed: it is ${state}`)
  if (Date.now() - Date.parse(decidedAt) > keptMs) throw new Error('it is too late: make the secret again')
  const made = { ...(found.input as object), ...(reason === null ? {} : { reason }) } as Input<Operation>
  return session.call(call, made, operationId)
}

async function findToDecline({ proposalId }: Input<typeof declineProposal>, session: Session): Promise<Found> {
  const found = await find(session, proposalId)
  say(`about ${found.service}.${found.operation} ${JSON.stringify(found.input)}, of ${found.proposedBy}\n`)
  return found
}

function askToApprove(_given: unknown, { service, operation, input, proposedBy, reason }: Known): string {
  const why = reason === null ? '' : `, because ${JSON.stringify(reason)}`
  return `${service}.${operation} ${JSON.stringify(input)}, signed by ${proposedBy} (verified)${why}: carry it out?`
}

async function approve({ session, input, seen, operationId }: Work<typeof declineProposal, Known>): Promise<unknown> {
  const { call: operation, input: proposed, state } = seen
  if (state !== 'open') throw new Rejection('PROPOSAL_NOT_OPEN', { state })
  const reason = 'reason' in operation.body.properties ? { reason: input.reason } : {}
  const call = { ...(proposed as object), ...reason } as Input<Operation>
  const reply = await session.approve(operation, { input: call, approves: input.proposalId, operationId })
  if (isReplySealed(operation, call)) say(`for the secrets, ${seen.proposedBy}: proposals collect ${seen.id}\n`)
  return reply
}
