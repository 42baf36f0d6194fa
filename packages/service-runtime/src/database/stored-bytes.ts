import type { Environment } from '@backoffice/contracts'
import { meter } from '@backoffice/process'
import type { Attributes } from '@opentelemetry/api'

/** Whose a stored item is. */
export interface StoredFor {
  readonly operatorId: string
  readonly environment: Environment
}

/** Added up here and read when measurements are collected: to add to a counter costs more than all else of an item. */
const totals = new Map<string, { readonly attributes: Attributes; bytes: number }>()

meter
  .createObservableCounter('backoffice.stored_bytes', {
    description:
      'Bytes that calls of an operator have left in the tables that keep what was sent: replies, events, deliveries',
    unit: 'By',
  })
  .addCallback((result) => {
    for (const { bytes, attributes } of totals.values()) result.observe(bytes, attributes)
  })

/** Counts what is written for an operator. A batch that runs again counts again. */
export function countStoredBytes(table: string, { operatorId, environment }: StoredFor, bytes: number): void {
  const name = `${table} ${environment} ${operatorId}`
  const total = totals.get(name)
  if (total === undefined) totals.set(name, { attributes: { operator: operatorId, environment, table }, bytes })
  else total.bytes += bytes
}
