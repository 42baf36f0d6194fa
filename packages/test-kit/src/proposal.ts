import { type Operation, Rejection, type Reply } from '@backoffice/contracts'
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

/** Makes a call that takes two people: alice proposes it, and bob carries it out. */
export async function byTwo<O extends Operation>(
  bed: Pick<TestBed<never>, 'team'>,
  operation: O,
  input: Unseen<O>,
): Promise<Reply<O>> {
  const { proposalId: approves } = await proposalOf(bed.team('alice').call(operation, { input }))
  return bed.team('bob').call(operation, { input, approves })
}
