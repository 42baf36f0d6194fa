import { type ErrorCode, errorCatalogue } from './errors.ts'
import type { Operation } from './operation.ts'

/** The codes of every authenticated route besides its own `rejects`, in order of precedence. */
export function commonRejects(operation: Operation): ErrorCode[] {
  if (operation.audience === 'public') return ['HEADERS_TOO_LARGE', 'INTERNAL_ERROR']
  const codes: ErrorCode[] = ['HEADERS_TOO_LARGE']
  if (operation.hasBody) codes.push('PAYLOAD_TOO_LARGE')
  codes.push(
    'INVALID_CREDENTIALS',
    'TIMESTAMP_OUT_OF_RANGE',
    'INVALID_SIGNATURE',
    'OPERATOR_SUSPENDED',
    'FORBIDDEN_IP',
    'RATE_LIMITED',
  )
  if (operation.audience === 'sandbox') codes.push('SANDBOX_ONLY')
  if (operation.hasBody) codes.push('UNSUPPORTED_MEDIA_TYPE')
  if (operation.idempotency === 'required') codes.push('IDEMPOTENCY_KEY_REQUIRED')
  if (operation.stores !== undefined) codes.push('DAILY_QUOTA_EXCEEDED')
  // Without a key, with replay protection: for a signature that was used before.
  if (operation.http?.method === 'POST') codes.push('IDEMPOTENCY_CONFLICT')
  if (operation.idempotency === 'required') codes.push('IDEMPOTENCY_IN_PROGRESS')
  codes.push('VALIDATION_ERROR', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE')
  return codes
}

/**
 * The codes that refuse a request only after its Idempotency-Key was looked up, so that they are what became of it under
 * that key. Any other refusal says nothing about an earlier request with the key.
 */
export function refusalsAfterKey(operation: Operation): ErrorCode[] {
  const common = commonRejects(operation)
  const last = common.indexOf('IDEMPOTENCY_KEY_REQUIRED')
  if (last < 0) return []
  return [...common.slice(last + 1), ...operation.rejects].filter((code) => !errorCatalogue[code].retryable)
}

/** Whether a service may refuse the operation with this code. Any other code is a bug of the service. */
export function isDeclared(operation: Operation, code: ErrorCode): boolean {
  if (operation.rejects.includes(code)) return true
  // The input is not valid, or the service failed: any operation may meet these.
  if (code === 'VALIDATION_ERROR' || errorCatalogue[code].status >= 500) return true
  // The operation id was used before, with another input.
  if (code === 'IDEMPOTENCY_CONFLICT') return operation.kind === 'command'
  if (operation.audience === 'team') return teamRejects.includes(code)
  return code === 'SANDBOX_ONLY' && operation.audience === 'sandbox'
}

/** What any operation of the team may refuse: somebody is not who they say, or may not do this, or not alone. */
const teamRejects: readonly ErrorCode[] = [
  'LOGIN_REQUIRED',
  'FRESH_LOGIN_REQUIRED',
  'ROLE_REQUIRED',
  'SIGNATURE_REQUIRED',
  'AWAITS_APPROVAL',
  'PROPOSAL_NOT_FOUND',
  'PROPOSAL_NOT_OPEN',
  'TWO_PEOPLE_REQUIRED',
]
