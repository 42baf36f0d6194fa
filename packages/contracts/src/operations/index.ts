import type { ErrorCode } from '../errors.ts'
import { type Operation, type ServiceName, tags } from '../operation.ts'
import * as gateway from './gateway.ts'
import * as payments from './payments.ts'
import * as players from './players.ts'
import * as wallet from './wallet.ts'
import * as webhooks from './webhooks.ts'

export * from './gateway.ts'
export * from './payments.ts'
export * from './players.ts'
export * from './runtime.ts'
export * from './wallet.ts'
export * from './webhooks.ts'

/** The operations of a module, by name: a module also exports schemas, which are left out. */
type OperationsOf<M> = { [K in keyof M as M[K] extends Operation ? K : never]: M[K] }

function operationsOf<M extends Record<string, unknown>>(module: M): OperationsOf<M> {
  const entries = Object.entries(module).filter(
    ([name, value]) =>
      typeof value === 'object' && value !== null && 'service' in value && (value as { id?: unknown }).id === name,
  )
  return Object.fromEntries(entries) as unknown as OperationsOf<M>
}

/** The operation table, by the service that answers. */
export const operations = {
  gateway: operationsOf(gateway),
  players: operationsOf(players),
  wallet: operationsOf(wallet),
  payments: operationsOf(payments),
  webhooks: operationsOf(webhooks),
} as const satisfies Record<ServiceName, object>

export const allOperations: readonly Operation[] = Object.values(operations).flatMap(
  (table) => Object.values(table) as Operation[],
)

const tagOrder = Object.keys(tags)
const byReadingOrder = (a: Operation, b: Operation) =>
  tagOrder.indexOf(a.tag ?? '') - tagOrder.indexOf(b.tag ?? '') || a.position - b.position
/** What has an HTTP route, in the order in which a reader meets it. */
export const httpOperations: readonly Operation[] = allOperations
  .filter((operation) => operation.http !== undefined)
  .sort(byReadingOrder)

/** What every authenticated route may answer besides its own `rejects`, in order of precedence. */
export function commonRejects(operation: Operation): ErrorCode[] {
  if (operation.audience === 'public') return ['HEADERS_TOO_LARGE', 'INTERNAL_ERROR']
  const codes: ErrorCode[] = []
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
  if (operation.idempotency === 'required')
    codes.push('IDEMPOTENCY_KEY_REQUIRED', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS')
  codes.push('VALIDATION_ERROR', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE')
  return codes
}
