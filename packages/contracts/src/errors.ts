/**
 * The error catalogue: every code that the API may reply with, written once. A released code never changes. `retryable`
 * says whether the same request, with the same Idempotency-Key, may succeed when it is sent again.
 */
export interface ErrorEntry {
  readonly status: number
  readonly message: string
  readonly retryable: boolean
}

const catalogue = {
  IDEMPOTENCY_KEY_REQUIRED: {
    status: 400,
    message: 'This operation requires the Idempotency-Key header.',
    retryable: false,
  },
  INVALID_CREDENTIALS: { status: 401, message: 'The operator key is missing or unknown.', retryable: false },
  INVALID_SIGNATURE: { status: 401, message: 'The signature does not match the request.', retryable: false },
  TIMESTAMP_OUT_OF_RANGE: {
    status: 401,
    message: 'X-Timestamp must be epoch seconds within 5 minutes of the server clock.',
    retryable: false,
  },
  OPERATOR_SUSPENDED: { status: 403, message: 'The operator is suspended.', retryable: false },
  FORBIDDEN_IP: {
    status: 403,
    message: "The caller's address is not among the operator's permitted addresses.",
    retryable: false,
  },
  SANDBOX_ONLY: { status: 403, message: 'This operation exists in the sandbox only.', retryable: false },
  KYC_NOT_APPROVED: {
    status: 403,
    message: 'The player needs an approved identity check (KYC) for this operation.',
    retryable: false,
  },
  PLAYER_NOT_ACTIVE: {
    status: 403,
    message: 'The status of the player does not allow this operation.',
    retryable: false,
  },
  RG_BLOCKED: { status: 403, message: "Refused by the player's self-exclusion or daily limit.", retryable: false },
  NOT_FOUND: { status: 404, message: 'There is no such route.', retryable: false },
  PLAYER_NOT_FOUND: { status: 404, message: 'There is no such player in this brand.', retryable: false },
  DEPOSIT_NOT_FOUND: { status: 404, message: 'There is no such deposit in this brand.', retryable: false },
  WITHDRAWAL_NOT_FOUND: { status: 404, message: 'There is no such withdrawal in this brand.', retryable: false },
  GAME_NOT_FOUND: { status: 404, message: 'There is no such game in the catalogue of this brand.', retryable: false },
  METHOD_NOT_ALLOWED: { status: 405, message: 'The path exists, but not with this method.', retryable: false },
  REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.', retryable: true },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    message: 'This Idempotency-Key was used with another method, path or body.',
    retryable: false,
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    message: 'The first request with this Idempotency-Key is still running; wait and retry.',
    retryable: true,
  },
  PLAYER_ALREADY_EXISTS: {
    status: 409,
    message: 'A player with this externalId already exists in the brand.',
    retryable: false,
  },
  KYC_ALREADY_APPROVED: {
    status: 409,
    message: 'The identity check of this player is already approved.',
    retryable: false,
  },
  DEPOSIT_ALREADY_EXISTS: {
    status: 409,
    message: 'A deposit with this externalReference already exists.',
    retryable: false,
  },
  DEPOSIT_NOT_PENDING: { status: 409, message: 'The deposit is no longer pending.', retryable: false },
  WITHDRAWAL_NOT_CANCELLABLE: { status: 409, message: 'The withdrawal is no longer under review.', retryable: false },
  WITHDRAWAL_INVALID_STATE: {
    status: 409,
    message: 'The status of the withdrawal does not allow this decision.',
    retryable: false,
  },
  WEBHOOK_NOT_CONFIGURED: {
    status: 409,
    message: 'No webhook URL is configured for this environment.',
    retryable: false,
  },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The body is larger than 64 KiB.', retryable: false },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'The body must be application/json.', retryable: false },
  VALIDATION_ERROR: { status: 422, message: 'The request is not valid.', retryable: false },
  CURRENCY_MISMATCH: {
    status: 422,
    message: 'The currency differs from the currency of the player.',
    retryable: false,
  },
  INSUFFICIENT_FUNDS: { status: 422, message: 'The withdrawable balance does not cover the amount.', retryable: false },
  RATE_LIMITED: { status: 429, message: 'Too many requests; retry after the seconds in Retry-After.', retryable: true },
  HEADERS_TOO_LARGE: { status: 431, message: 'The request headers are too large.', retryable: false },
  INTERNAL_ERROR: {
    status: 500,
    message: 'Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key.',
    retryable: true,
  },
  PROVIDER_UNAVAILABLE: { status: 502, message: 'An upstream provider is unavailable.', retryable: true },
  SERVICE_UNAVAILABLE: {
    status: 503,
    message: 'Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key.',
    retryable: true,
  },
  // The team's side only: these are never in the published documents.
  LOGIN_REQUIRED: {
    status: 401,
    message: 'Who calls is not proven. Log in again; the details say why.',
    retryable: false,
  },
  FRESH_LOGIN_REQUIRED: {
    status: 401,
    message: 'This takes a login of the last minutes. Log in again.',
    retryable: false,
  },
  ROLE_REQUIRED: {
    status: 403,
    message: 'This takes a role that you do not have; the details say which.',
    retryable: false,
  },
  AWAITS_APPROVAL: {
    status: 202,
    message: 'Proposed: it is carried out when somebody else approves it. The details name the proposal.',
    retryable: false,
  },
  PROPOSAL_NOT_FOUND: { status: 404, message: 'There is no such proposal.', retryable: false },
  PROPOSAL_NOT_OPEN: { status: 409, message: 'The proposal is no longer open.', retryable: false },
  OPERATOR_NOT_FOUND: { status: 404, message: 'There is no such operator.', retryable: false },
  OPERATOR_ALREADY_EXISTS: { status: 409, message: 'An operator with this name already exists.', retryable: false },
  CREDENTIAL_NOT_FOUND: { status: 404, message: 'There is no such credential.', retryable: false },
  CREDENTIAL_LAST_ACTIVE: {
    status: 409,
    message: 'This is the last active credential of the environment; issue another one first.',
    retryable: false,
  },
  DELIVERY_NOT_FOUND: { status: 404, message: 'There is no such delivery.', retryable: false },
  MESSAGE_NOT_FOUND: { status: 404, message: 'There is no such message.', retryable: false },
  TRANSFER_NOT_FOUND: { status: 404, message: 'There is no such transfer in this brand.', retryable: false },
  TRANSFER_CONFLICT: { status: 409, message: 'The reference was used for another transfer.', retryable: false },
  TRANSFER_ALREADY_REVERSED: { status: 409, message: 'The transfer is already reversed.', retryable: false },
  RECONCILIATION_NOT_FOUND: { status: 404, message: 'There is no such reconciliation run.', retryable: false },
  TWO_PEOPLE_REQUIRED: {
    status: 403,
    message: 'This takes two people: somebody else must do it. The details name the first.',
    retryable: false,
  },
  COMMAND_NOT_FOUND: {
    status: 404,
    message: 'There is no such command of the outbox, or it is done.',
    retryable: false,
  },
  COMMAND_CANNOT_BE_ENDED: {
    status: 409,
    message: 'This command is not given up; the details say why.',
    retryable: false,
  },
  PLAYER_DATA_NEEDED: {
    status: 409,
    message: 'The data of this player are still needed; the details say why.',
    retryable: false,
  },
  KYC_TAKEN: {
    status: 409,
    message: 'Somebody else has taken this case; the details say who. It can be taken over.',
    retryable: false,
  },
  WEBHOOK_URL_REFUSED: { status: 422, message: 'The webhook URL is not allowed.', retryable: false },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof catalogue
export const errorCatalogue: Readonly<Record<ErrorCode, ErrorEntry>> = catalogue

/** What a caller is refused with: a code of the catalogue, and details that are safe to publish. */
export class Rejection extends Error {
  override readonly name = 'Rejection'
  readonly code: ErrorCode
  readonly details: Record<string, unknown> | undefined

  /** @param options.cause what made the caller refuse; it is logged and never published */
  constructor(code: ErrorCode, details?: Record<string, unknown>, options?: { readonly cause?: unknown }) {
    super(errorCatalogue[code].message, options)
    this.code = code
    this.details = details
  }
}

/** The issues of a failed validation, as `details` of VALIDATION_ERROR carries them. */
export interface ValidationDetails {
  readonly in: 'body' | 'query' | 'path' | 'headers'
  readonly issues: ReadonlyArray<{ readonly path: string; readonly message: string }>
}

const pathLengthMax = 128

/**
 * The path of an issue as it is shown. The names in it are the sender's, and may be as long as the body. A refusal is
 * stored, so it is not.
 */
export const shownPath = (path: string): string =>
  path.length <= pathLengthMax ? path : `${path.slice(0, pathLengthMax).toWellFormed()}…`

/** @param path a JSON pointer to what is not valid */
export const invalid = (place: ValidationDetails['in'], path: string, message: string): Rejection =>
  new Rejection('VALIDATION_ERROR', { in: place, issues: [{ path: shownPath(path), message }] })
