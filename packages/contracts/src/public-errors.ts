/** What everybody must know of an error code. */
export interface ErrorEntry {
  readonly status: number
  readonly message: string
  /** The same request, with the same Idempotency-Key, may succeed when it is sent again. */
  readonly retryable?: true
}

/** A code that an operator can meet: what it comes from, and what its developer does about it. */
export interface PublicErrorEntry extends ErrorEntry {
  readonly cause: string
  readonly cure: string
}

const sameKey =
  'Retry with the same Idempotency-Key, within 24 hours of the first request, with exponential backoff and jitter, after `Retry-After` at the earliest.'

/** Every code that the API may reply with, in the order of their statuses. A released code never changes. */
const entries = {
  IDEMPOTENCY_KEY_REQUIRED: {
    status: 400,
    message: 'This operation requires the Idempotency-Key header.',
    cause: 'The operation changes money or records, and the header is missing or empty.',
    cure: 'Make one key per intent, store it, and send it with every attempt.',
  },
  INVALID_CREDENTIALS: {
    status: 401,
    message: 'The operator key is missing or unknown.',
    cause: '`X-Operator-Key` is missing, mistyped, or revoked.',
    cure: 'Send the key (`bk_test_…` or `bk_live_…`), not the secret. If it was replaced, use the new pair.',
  },
  INVALID_SIGNATURE: {
    status: 401,
    message: 'The signature does not match the request.',
    cause: 'What you signed is not what arrived, or the secret belongs to another key.',
    cure: 'In the sandbox, open `details.compareAt`: it compares our canonical string with yours and names the usual causes.',
  },
  TIMESTAMP_OUT_OF_RANGE: {
    status: 401,
    message: 'X-Timestamp must be epoch seconds within 5 minutes of the server clock.',
    cause: 'The header is missing, in milliseconds, or your clock is wrong.',
    cure: 'Send epoch seconds, take them anew for each attempt, and keep the clock right (NTP).',
  },
  OPERATOR_SUSPENDED: {
    status: 403,
    message: 'The operator is suspended.',
    cause: 'Our team has suspended your access.',
    cure: 'Stop sending, and talk to us. Events are still delivered.',
  },
  FORBIDDEN_IP: {
    status: 403,
    message: "The caller's address is not among the operator's permitted addresses.",
    cause: 'The request left your network by an address that is not on your list.',
    cure: 'Send through a permitted address, or give us the new one before you use it.',
  },
  SANDBOX_ONLY: {
    status: 403,
    message: 'This operation exists in the sandbox only.',
    cause: 'A sandbox route was called with a production key.',
    cure: 'In production our team decides: wait for the webhook.',
  },
  KYC_NOT_APPROVED: {
    status: 403,
    message: 'The player needs an approved identity check (KYC) for this operation.',
    cause: "The player's `kycStatus` is not `aprovado`.",
    cure: 'Submit a document, and try again after `kyc.status_changed` says `aprovado`.',
  },
  PLAYER_NOT_ACTIVE: {
    status: 403,
    message: 'The status of the player does not allow this operation.',
    cause: "The player's `status` is not `ativo`.",
    cure: 'Tell the player. Only our team changes the status. Withdrawals are still possible.',
  },
  RG_BLOCKED: {
    status: 403,
    message: "Refused by the player's self-exclusion or daily limit.",
    cause: 'Responsible gaming: `details.reason` says which rule.',
    cure: 'Do not collect the payment, and do not offer a way around. A daily limit ends with the day of the brand.',
  },
  NOT_FOUND: {
    status: 404,
    message: 'There is no such route.',
    cause: 'The path is mistyped, or the prefix `/api/v1` is missing or doubled.',
    cure: 'Compare the path with the reference.',
  },
  PLAYER_NOT_FOUND: {
    status: 404,
    message: 'There is no such player in this brand.',
    cause: 'The id is wrong, is your own `externalId`, or belongs to the other environment.',
    cure: 'Use the `id` that we gave, or find it by `externalId`.',
  },
  DEPOSIT_NOT_FOUND: {
    status: 404,
    message: 'There is no such deposit in this brand.',
    cause: 'The id is wrong, is your own reference, or belongs to the other environment.',
    cure: 'Use the `id` returned when you created it. If you lost it, create it again with the same `externalReference`: the refusal names it.',
  },
  WITHDRAWAL_NOT_FOUND: {
    status: 404,
    message: 'There is no such withdrawal in this brand.',
    cause: 'The id is wrong, or belongs to the other environment.',
    cure: 'Use the `id` returned when you created it. If you lost it, find it in the events `withdrawal.status_changed`. Within 24 hours of the first request you may also repeat it with its Idempotency-Key; later that would be a second withdrawal, so talk to us.',
  },
  GAME_NOT_FOUND: {
    status: 404,
    message: 'There is no such game in the catalogue of this brand.',
    cause: 'The game was never in your catalogue, or was taken out of it.',
    cure: 'Read the catalogue again, and offer what it has.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: 'The path exists, but not with this method.',
    cause: 'Another method than GET or POST, or the wrong one of them.',
    cure: 'The header `Allow` says which one.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    message: 'The request did not arrive in time.',
    retryable: true,
    cause: 'Your connection broke off, or sent so slowly that the request was not complete after 20 seconds.',
    cure: 'Send it again, with the same Idempotency-Key, within 24 hours of the first request.',
  },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    message: 'This Idempotency-Key was used with another method, path or body.',
    cause:
      'Two intents share a key, or a retry serialised its body anew. With `details.signature`: two equal requests were signed in one second.',
    cure: 'Repeat the stored bytes with the stored key, within 24 hours of the first request; give a new intent a new key. With `details.signature`: wait a second, sign anew, send again.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    message: 'The first request with this Idempotency-Key is still running; wait and retry.',
    retryable: true,
    cause: 'You sent a retry before the first attempt had its reply.',
    cure: 'Wait for `Retry-After`, then retry with the same key: you get the reply of the first.',
  },
  PLAYER_ALREADY_EXISTS: {
    status: 409,
    message: 'A player with this externalId already exists in the brand.',
    cause: 'You registered this `externalId` before.',
    cure: 'Go on with `details.playerId`.',
  },
  KYC_ALREADY_APPROVED: {
    status: 409,
    message: 'The identity check of this player is already approved.',
    cause: 'A document was submitted for a player who needs none.',
    cure: 'Nothing to do.',
  },
  DEPOSIT_ALREADY_EXISTS: {
    status: 409,
    message: 'A deposit with this externalReference already exists.',
    cause: 'You created this deposit before, perhaps under another Idempotency-Key.',
    cure: 'Go on with `details.depositId`.',
  },
  DEPOSIT_NOT_PENDING: {
    status: 409,
    message: 'The deposit is no longer pending.',
    cause: 'It was confirmed or failed before.',
    cure: 'Read `details.status`. If you wanted just that, it is done. If not, talk to us: it cannot be undone here.',
  },
  WITHDRAWAL_NOT_CANCELLABLE: {
    status: 409,
    message: 'The withdrawal is no longer under review.',
    cause: 'The team has decided, or you cancelled it before.',
    cure: 'Read `details.status`, and show it to the player.',
  },
  WITHDRAWAL_INVALID_STATE: {
    status: 409,
    message: 'The status of the withdrawal does not allow this decision.',
    cause: 'Sandbox decisions go in order: `approve` or `reject` what is under review, `pay` what is approved.',
    cure: 'Read `details.status`, and decide what comes next.',
  },
  WEBHOOK_NOT_CONFIGURED: {
    status: 409,
    message: 'No webhook URL is configured for this environment.',
    cause: 'You have not given us the URL of this environment, or it was disabled.',
    cure: 'Ask our team to set it.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    message: 'The body is larger than 64 KiB.',
    cause: 'A body that no operation needs, for example a document file.',
    cure: 'Send your reference to the file, never the file.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'The body must be application/json.',
    cause: '`Content-Type` is missing, or names something else.',
    cure: 'Send `Content-Type: application/json`.',
  },
  VALIDATION_ERROR: {
    status: 422,
    message: 'The request is not valid.',
    cause: 'A field, parameter, header or cursor is not as the reference says; `details.issues` names each.',
    cure: 'Correct it, and send it with a new Idempotency-Key: this reply is stored under the old one.',
  },
  CURRENCY_MISMATCH: {
    status: 422,
    message: 'The currency differs from the currency of the player.',
    cause: 'Deposits and withdrawals are in the currency of the player.',
    cure: 'Send `details.expected`, with a new Idempotency-Key.',
  },
  INSUFFICIENT_FUNDS: {
    status: 422,
    message: 'The withdrawable balance does not cover the amount.',
    cause: 'The amount is above `withdrawable`: open withdrawals count.',
    cure: 'Read the wallet, and offer what it has.',
  },
  RATE_LIMITED: {
    status: 429,
    message: 'Too many requests; retry after the seconds in Retry-After.',
    retryable: true,
    cause: 'More requests in a minute than agreed; or too many failed authentications from your address.',
    cure: 'Wait for `Retry-After`. Spread the load, and hear of changes by webhooks instead of asking.',
  },
  DAILY_QUOTA_EXCEEDED: {
    status: 429,
    message: "The day's storage is used up; retry after the seconds in Retry-After.",
    retryable: true,
    cause: 'What your requests of this day (UTC) store has reached a quota; `details` says which. Nothing was done.',
    cure: 'Go on confirming, failing and cancelling what you began, and reading. Begin anew after `details.resetsAt`, with the same key, or ask our team for more.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    message: 'The request headers are too large.',
    cause: 'The headers are larger than 16 KiB, for example by cookies of a proxy.',
    cure: 'Send what the reference names, and nothing else.',
  },
  INTERNAL_ERROR: {
    status: 500,
    message: 'Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key.',
    retryable: true,
    cause: 'A fault of ours.',
    cure: `${sameKey} If it stays, send us the request id.`,
  },
  PROVIDER_UNAVAILABLE: {
    status: 502,
    message: 'An upstream provider is unavailable.',
    retryable: true,
    cause: 'The game provider does not answer.',
    cure: 'Try again after `Retry-After`, or offer another game.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    message: 'Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key.',
    retryable: true,
    cause: 'Part of our system is away for a moment.',
    cure: sameKey,
  },
} as const satisfies Record<string, PublicErrorEntry>

export type PublicErrorCode = keyof typeof entries
export const publicErrors: Readonly<Record<PublicErrorCode, PublicErrorEntry>> = entries
export const publicErrorCodes = Object.keys(publicErrors) as PublicErrorCode[]
