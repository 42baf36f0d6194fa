import { type ErrorEntry, publicErrors } from './public-errors.ts'

/** A code that a provider of games can meet: what it comes from, what its client does about it, and whether it asks again. */
export interface ProviderErrorEntry extends Omit<ErrorEntry, 'retryable'> {
  /** `never`: the same request gets the same answer. `later`: nothing is stored; the same request may succeed. */
  readonly retry: 'never' | 'later'
  readonly cause: string
  readonly cure: string
}

const untilAnswered =
  'Send the same bytes, freshly signed: a win, a rollback and a close until they are answered with 200; a bet until its outcome is known, or take it back with a rollback.'

/** Every code that the providers' surface may reply with, in the order of their statuses. What operators read too is said there. */
const entries = {
  INVALID_CREDENTIALS: {
    status: 401,
    message: 'The provider key is missing or unknown.',
    retry: 'later',
    cause: '`X-Provider-Key` is missing, mistyped, or revoked.',
    cure: 'Send the key (`gp_test_…` or `gp_live_…`), not the secret. If it was replaced, use the new pair.',
  },
  INVALID_SIGNATURE: {
    ...publicErrors.INVALID_SIGNATURE,
    retry: 'later',
    cure: 'Compare your code with the test vectors. Sign the bytes that you send, and the path with its query.',
  },
  TIMESTAMP_OUT_OF_RANGE: { ...publicErrors.TIMESTAMP_OUT_OF_RANGE, retry: 'later' },
  FORBIDDEN_IP: {
    ...publicErrors.FORBIDDEN_IP,
    message: "The caller's address is not among the provider's permitted addresses.",
    retry: 'later',
  },
  BRAND_NOT_GRANTED: {
    status: 403,
    message: 'This provider has no such brand.',
    retry: 'later',
    cause: 'The brand in the path is mistyped, belongs to the other environment, or was not granted to you.',
    cure: 'Use the brand that the launch of the game named, or ask our team for the grant.',
  },
  OPERATOR_SUSPENDED: {
    status: 403,
    message: 'The operator of the brand is suspended, so no bet is taken.',
    retry: 'never',
    cause: 'Our team has suspended the operator.',
    cure: 'End the game. Wins, rollbacks and closes of rounds that were begun are taken.',
  },
  PROVIDER_SUSPENDED: {
    status: 403,
    message: 'The provider is suspended, so no bet is taken.',
    retry: 'never',
    cause: 'Our team has suspended you, or your grant for this brand.',
    cure: 'End the game, and talk to us. Wins, rollbacks and closes of rounds that were begun are taken.',
  },
  RG_BLOCKED: {
    ...publicErrors.RG_BLOCKED,
    retry: 'never',
    cure: 'Tell the player, and end the game. Settle what was staked before.',
  },
  PLAYER_NOT_ACTIVE: {
    status: 403,
    message: 'The status of the player does not allow a bet.',
    retry: 'never',
    cause: "The player's status is not `ativo`.",
    cure: 'End the game. Settle what was staked before.',
  },
  KYC_NOT_APPROVED: {
    status: 403,
    message: 'The player needs an approved identity check (KYC) for a bet.',
    retry: 'never',
    cause: "The player's identity check has ended or was taken back.",
    cure: 'End the game. Settle what was staked before.',
  },
  SESSION_EXPIRED: {
    status: 403,
    message: 'The game session has ended, so no bet is taken.',
    retry: 'never',
    cause: '`expiresAt` of the session has passed.',
    cure: 'Have the player open the game anew. Settle what was staked before.',
  },
  NOT_FOUND: {
    ...publicErrors.NOT_FOUND,
    retry: 'never',
    cause: 'The path is mistyped, or the prefix `/provider/v1/{brandId}` is missing or doubled.',
  },
  PLAYER_NOT_FOUND: {
    ...publicErrors.PLAYER_NOT_FOUND,
    retry: 'never',
    cause: 'The id is wrong, or belongs to another brand or environment.',
    cure: 'Use the player of the launch.',
  },
  SESSION_NOT_FOUND: {
    status: 404,
    message: 'There is no such game session of this player and provider.',
    retry: 'never',
    cause: 'The id is wrong, or the session is of another player, brand or provider.',
    cure: 'Use the session of the launch.',
  },
  GAME_NOT_FOUND: {
    status: 404,
    message: 'The game is not that of the session, or no longer in the catalogue of this brand.',
    retry: 'never',
    cause: 'The session was opened for another game, or the game was taken out of the catalogue.',
    cure: 'End the game. Settle what was staked before.',
  },
  TRANSACTION_NOT_FOUND: {
    status: 404,
    message: 'We hold no such transaction of this provider in this brand.',
    retry: 'later',
    cause: 'It never arrived, or its id is another one.',
    cure: 'Send it, or send a rollback for it.',
  },
  METHOD_NOT_ALLOWED: {
    ...publicErrors.METHOD_NOT_ALLOWED,
    retry: 'never',
    cause: 'The wrong one of GET and POST, or another method.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    message: 'The request did not arrive in time.',
    retry: 'later',
    cause: 'Your connection broke off, or sent so slowly that the request was not complete after 20 seconds.',
    cure: untilAnswered,
  },
  TRANSACTION_CONFLICT: {
    status: 409,
    message: 'This transactionId was used for something else.',
    retry: 'never',
    cause: 'Two transactions share an id, or a repeated one has another player, round, game, amount or currency.',
    cure: 'Repeat the stored bytes; give a new transaction a new id.',
  },
  TRANSACTION_ROLLED_BACK: {
    status: 409,
    message: 'This bet was rolled back, and is not taken any more.',
    retry: 'never',
    cause: 'A rollback for it came before it, or after it.',
    cure: 'Do not play the round.',
  },
  ROUND_CLOSED: {
    status: 409,
    message: 'The round is closed, so no bet is taken in it.',
    retry: 'never',
    cause: 'You closed the round, or said with a bet or a win that it ends.',
    cure: 'Begin another round.',
  },
  ROUND_VOIDED: {
    status: 409,
    message: 'The stakes of this round were given back, so nothing is won in it.',
    retry: 'never',
    cause: 'All bets of the round, or the bet that the win names, were rolled back by you or by our team.',
    cure: 'Show the player that the round is void. If you believe that it is not, talk to us: we were alarmed.',
  },
  BET_ALREADY_SETTLED: {
    status: 409,
    message: 'The bet has a result, so it is not rolled back.',
    retry: 'never',
    cause: 'A win names the bet, its round was won or closed, or it was part of a spin.',
    cure: 'Stop. `details.result` is what happened; show it to the player.',
  },
  BET_REFUSED: {
    status: 409,
    message: 'The bet of this win was refused, so nothing is won.',
    retry: 'never',
    cause: 'You played a round whose stake was not taken.',
    cure: 'Do not play on a refusal. We were alarmed: talk to us.',
  },
  NOT_A_BET: {
    status: 409,
    message: 'Only bets are rolled back.',
    retry: 'never',
    cause: '`betTransactionId` names a win. A win is taken back by two people of our team.',
    cure: 'Talk to us.',
  },
  BET_NOT_FOUND: {
    status: 409,
    message: 'No bet of this round is known yet.',
    retry: 'later',
    cause: 'A win or a close came before its bet.',
    cure: 'Send the bet until its outcome is known, then send this again.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    message: 'The body is larger than 8 KiB.',
    retry: 'never',
    cause: 'A body that no operation needs.',
    cure: 'Send what the reference names, and nothing else.',
  },
  UNSUPPORTED_MEDIA_TYPE: { ...publicErrors.UNSUPPORTED_MEDIA_TYPE, retry: 'never' },
  VALIDATION_ERROR: {
    status: 422,
    message: 'The request is not valid.',
    retry: 'never',
    cause: 'A field, parameter or header is not as the reference says; `details.issues` names each.',
    cure: 'Correct it. Nothing is stored, so the id may be used again.',
  },
  CURRENCY_MISMATCH: {
    status: 422,
    message: 'The currency differs from the currency of the player.',
    retry: 'never',
    cause: 'All play is in the currency of the player.',
    cure: 'Send `details.expected`. Nothing is stored, so the id may be used again.',
  },
  INSUFFICIENT_FUNDS: {
    status: 422,
    message: 'The balance does not cover the stake.',
    retry: 'never',
    cause: 'The stake is above the balance: what withdrawals reserve cannot be staked.',
    cure: 'Show `details.balance`. Do not roll back: nothing was taken.',
  },
  RATE_LIMITED: {
    status: 429,
    message: 'Too many requests; retry after the seconds in Retry-After.',
    retry: 'later',
    cause: 'More requests in a minute than agreed; or too many failed authentications from your address.',
    cure: 'Wait for `Retry-After`, then send the same bytes, freshly signed.',
  },
  DAILY_QUOTA_EXCEEDED: {
    status: 429,
    message: "The day's bets of this brand are used up; retry after the seconds in Retry-After.",
    retry: 'later',
    cause: 'What the bets of this day (UTC) store has reached the quota of the brand.',
    cure: 'Take no bets until `details.resetsAt`. Wins, rollbacks and closes go on.',
  },
  HEADERS_TOO_LARGE: {
    ...publicErrors.HEADERS_TOO_LARGE,
    retry: 'never',
    cause: 'The headers are larger than 16 KiB.',
  },
  INTERNAL_ERROR: {
    status: 500,
    message: 'Internal failure. The outcome is unknown: send the same bytes again.',
    retry: 'later',
    cause: 'A fault of ours.',
    cure: untilAnswered,
  },
  WIN_HELD: {
    status: 503,
    message: 'The win is above the limit that was agreed, and waits for two people of our team.',
    retry: 'later',
    cause: 'Wins above the limit of a provider are looked at before they are paid.',
    cure: 'Go on sending it: once it is released, it is paid. We were paged.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    message: 'Temporarily unavailable. The outcome is unknown: send the same bytes again.',
    retry: 'later',
    cause: 'Part of our system is away for a moment.',
    cure: untilAnswered,
  },
} as const satisfies Record<string, ProviderErrorEntry>

export type ProviderErrorCode = keyof typeof entries
export const providerErrors: Readonly<Record<ProviderErrorCode, ProviderErrorEntry>> = entries
export const providerErrorCodes = Object.keys(entries) as readonly ProviderErrorCode[]

/** Refusals by a service that leave no play. Each other one that an operation of theirs rejects with is kept as a play. */
export const refusedWithoutPlay: ReadonlySet<string> = new Set<ProviderErrorCode>([
  'PLAYER_NOT_FOUND',
  'CURRENCY_MISMATCH',
  'TRANSACTION_CONFLICT',
  'TRANSACTION_ROLLED_BACK',
  'BET_NOT_FOUND',
  'WIN_HELD',
])
