import { depositStatuses, type ErrorCode, kycStatuses, playerStatuses, withdrawalStatuses } from '@backoffice/contracts'

interface Details {
  /** A JSON Schema. */
  readonly schema: object
  /** Whether every error with this code has them. */
  readonly always: boolean
}

const object = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})
const text = { type: 'string' }
const oneOf = (values: readonly string[]) => ({ type: 'string', enum: values })
const issue = object({ path: text, message: text })
const withdrawal = object({ withdrawalId: text, status: oneOf(withdrawalStatuses) })

/** The `details` of each published code that has some. */
export const errorDetails: Readonly<Partial<Record<ErrorCode, Details>>> = {
  VALIDATION_ERROR: {
    schema: object({ in: oneOf(['body', 'query', 'path', 'headers']), issues: { type: 'array', items: issue } }),
    always: true,
  },
  INVALID_SIGNATURE: { schema: object({ canonicalString: text }), always: false },
  TIMESTAMP_OUT_OF_RANGE: { schema: object({ serverTime: { type: 'integer' } }), always: false },
  IDEMPOTENCY_CONFLICT: { schema: object({ signature: oneOf(['used']) }), always: false },
  PLAYER_ALREADY_EXISTS: { schema: object({ playerId: text }), always: true },
  PLAYER_NOT_ACTIVE: { schema: object({ status: oneOf(playerStatuses) }), always: true },
  KYC_NOT_APPROVED: { schema: object({ kycStatus: oneOf(kycStatuses) }), always: true },
  DEPOSIT_ALREADY_EXISTS: { schema: object({ depositId: text }), always: true },
  DEPOSIT_NOT_PENDING: { schema: object({ depositId: text, status: oneOf(depositStatuses) }), always: true },
  WITHDRAWAL_NOT_CANCELLABLE: { schema: withdrawal, always: true },
  WITHDRAWAL_INVALID_STATE: { schema: withdrawal, always: true },
  CURRENCY_MISMATCH: { schema: object({ expected: text, received: text }), always: true },
  RG_BLOCKED: {
    schema: object({ reason: oneOf(['self_exclusion', 'daily_limit', 'sandbox_trigger']) }),
    always: true,
  },
}
