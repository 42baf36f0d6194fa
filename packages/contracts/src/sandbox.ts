/**
 * Reserved amounts with which an integrator can see, in the sandbox, what otherwise needs a real player or a real bank.
 * They mean nothing in production.
 */
export const sandboxAmounts = {
  /** A deposit of this amount is refused with RG_BLOCKED, as if the player were self-excluded. */
  depositBlocked: '1414.14',
  /** A deposit of this amount is refused with RG_BLOCKED, as if it passed the player's daily limit. */
  depositOverLimit: '1515.15',
  /** A withdrawal of this amount can be approved, but moves to `failed` on the decision `pay`. */
  withdrawalFailsOnPay: '13.13',
} as const

/**
 * What an integrator may open in the sandbox to see a refusal; they are in no catalogue.
 * A session for one of the first three is refused with RG_BLOCKED, each for another reason, for the last with
 * PROVIDER_UNAVAILABLE.
 */
export const sandboxGames = {
  rgBlocked: 'sandbox-rg-blocked',
  selfExcluded: 'sandbox-self-excluded',
  overLimit: 'sandbox-over-limit',
  providerUnavailable: 'sandbox-provider-unavailable',
} as const
