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

/**
 * What an operator's sandbox traffic can prove before its first pair of production is issued: each with the part of
 * docs/go-live.md that it belongs to, and what an integrator does for it.
 */
export const homologationChecks = {
  signedRequest: ['keys-and-secrets', 'Call GET /me, rightly signed.'],
  keyRotated: [
    'keys-and-secrets',
    'Ask for a second sandbox pair, switch to it, have the first one revoked, and go on calling.',
  ],
  signatureRefused: [
    'requests',
    'Send a wrong signature or time with your key, and then a right one from the same address.',
  ],
  nonAsciiBody: ['requests', 'Register a player named João, in UTF-8 bytes.'],
  replayed: ['requests', 'Send a request again, with the same Idempotency-Key and the same bytes.'],
  conflict: ['requests', 'Send another body under a used Idempotency-Key: it answers 409.'],
  correctedRequest: ['requests', 'After a 422, send the corrected request to the same path under a new key.'],
  playerBlocked: ['errors', 'Meet RG_BLOCKED, for example with a deposit of 1414.14.'],
  rateLimitObeyed: ['errors', 'Exceed the rate limit, send nothing until Retry-After has ended, and then succeed.'],
  webhookTested: ['webhooks', 'POST /webhooks/test answers "delivered": true.'],
  webhookRedelivered: ['webhooks', 'Answer an event with an error or not at all, and acknowledge a later attempt.'],
  webhookSecretRotated: [
    'webhooks',
    'Have the webhook secret rotated; when the former one has ended, POST /webhooks/test answers "delivered": true.',
  ],
  depositConfirmed: ['money', 'Create a deposit and confirm it.'],
  depositFailed: ['money', 'Create a deposit and fail it.'],
  withdrawalEnded: ['money', 'Take a withdrawal to its end: pay, reject or cancel it.'],
  walletRead: ['money', 'Read a wallet.'],
  statementPaged: ['money', 'Read a second page of transactions, by the cursor of the first one.'],
  duplicatePlayer: ['players', 'Register an externalId twice: PLAYER_ALREADY_EXISTS names the player.'],
  kycDecided: ['players', 'Submit a KYC document, and decide about it in the sandbox.'],
  gameSessionOpened: ['players', 'Open a game session.'],
} as const satisfies Readonly<Record<string, readonly [section: string, toDo: string]>>
export type HomologationCheck = keyof typeof homologationChecks
export const homologationCheckNames = Object.keys(homologationChecks) as readonly HomologationCheck[]
