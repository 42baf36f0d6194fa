import type { Environment } from '@backoffice/contracts'
import { meter } from './metrics.ts'

const storedBytes = meter.createCounter('backoffice.stored_bytes', {
  description:
    'Bytes that calls of an operator have left in the tables that keep what was sent: replies, events, deliveries',
  unit: 'By',
})

/** Whose a stored item is. */
export interface StoredFor {
  readonly operatorId: string
  readonly environment: Environment
}

/** Counts what is written for an operator. A batch that runs again counts again. */
export function countStoredBytes(table: string, { operatorId, environment }: StoredFor, bytes: number): void {
  storedBytes.add(bytes, { operator: operatorId, environment, table })
}
