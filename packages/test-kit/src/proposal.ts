import { defined, isReplySealed, type Operation, operations, Rejection, type Reply } from '@backoffice/contracts'
import type { Unseen } from './seen.ts'
import type { TestBed } from './test-bed.ts'

/** What somebody has proposed, as the refusal of their call says it. */
export interface ProposedCommand {
  readonly proposalId: string
  readonly proposedBy: string
  readonly expiresAt: string
}

/**
 * The proposal that a call of the team makes, because the operation takes two people.
 * @throws when one person was enough, or the call was refused for another reason
 */
export async function proposalOf(call: Promise<unknown>): Promise<ProposedCommand> {
  const refused = await call.then(
    () => new Error('it took one person'),
    (error: unknown) => error,
  )
  if (!(refused instanceof Rejection) || refused.code !== 'AWAITS_APPROVAL') throw refused
  return refused.details as unknown as ProposedCommand
}

type Team = Pick<TestBed<never>, 'team'>

/** Makes a call that takes two people: alice proposes it, and bob carries it out. What is shown once, alice is shown. */
export async function byTwo<O extends Operation>(bed: Team, operation: O, input: Unseen<O>): Promise<Reply<O>> {
  const { proposalId } = await proposalOf(bed.team('alice').call(operation, { input }))
  return carriedOut(bed, operation, { input, proposalId })
}

/** The same for a call that may be enough by itself. */
export async function agreedBy<O extends Operation>(bed: Team, operation: O, input: Unseen<O>): Promise<Reply<O>> {
  try {
    return await bed.team('alice').call(operation, { input })
  } catch (error) {
    if (!(error instanceof Rejection) || error.code !== 'AWAITS_APPROVAL') throw error
    return carriedOut(bed, operation, { input, proposalId: String(error.details?.proposalId) })
  }
}

async function carriedOut<O extends Operation>(
  bed: Team,
  operation: O,
  { input, proposalId }: { readonly input: Unseen<O>; readonly proposalId: string },
): Promise<Reply<O>> {
  const reply = await bed.team('bob').call(operation, { input, approves: proposalId })
  if (!isReplySealed(operation, input)) return reply
  const { listProposals } = operations[operation.service]
  const { data } = await bed.team('alice').call(listProposals, { input: { proposalId, limit: 1 } })
  const [proposal] = data
  // What was seen when it was proposed may be something else by now.
  const same = { ...(proposal?.input as Unseen<O>), ...defined({ reason: (input as { reason?: string }).reason }) }
  return bed.team('alice').call(operation, { input: same, ...defined({ operationId: proposal?.operationId }) })
}
