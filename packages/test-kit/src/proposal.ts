import { Rejection } from '@backoffice/contracts'

/** What somebody has proposed, as the refusal of their call says it. */
export interface Proposed {
  readonly proposalId: string
  readonly proposedBy: string
  readonly expiresAt: string
}

/**
 * The proposal that a call of the team makes, because the operation takes two people.
 * @throws when one person was enough, or the call was refused for another reason
 */
export async function proposalOf(call: Promise<unknown>): Promise<Proposed> {
  const refused = await call.then(
    () => new Error('it took one person'),
    (error: unknown) => error,
  )
  if (!(refused instanceof Rejection) || refused.code !== 'AWAITS_APPROVAL') throw refused
  return refused.details as unknown as Proposed
}
