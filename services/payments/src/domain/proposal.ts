import { Rejection } from '@backoffice/contracts'

/** What one person of the team wants done, and another one must carry out. */
export interface Proposal {
  readonly proposedBy: string
  readonly proposedAt: Date
  /** Of the call that proposed it. */
  readonly operationId: string
}

/** Long enough to reach somebody else, too short to be forgotten. */
const proposalLastsMs = 24 * 3_600_000

export const expiryOf = ({ proposedAt }: Pick<Proposal, 'proposedAt'>): Date =>
  new Date(proposedAt.getTime() + proposalLastsMs)

/**
 * The proposal that `person` may carry out; undefined where there is none, or it has expired: then this call proposes.
 * @throws {Rejection} TWO_PEOPLE_REQUIRED
 */
export function openProposal(
  proposal: Proposal | undefined,
  { person, now }: { readonly person: string; readonly now: Date },
): Proposal | undefined {
  if (proposal === undefined || expiryOf(proposal) <= now) return undefined
  const { proposedBy } = proposal
  if (proposedBy === person)
    throw new Rejection('TWO_PEOPLE_REQUIRED', { proposedBy, expiresAt: expiryOf(proposal).toISOString() })
  return proposal
}
