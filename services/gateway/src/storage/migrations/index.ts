import { runtimeMigrations } from '@backoffice/service-runtime'
import { operatorTables } from './0001-operators.ts'
import { requestTables } from './0002-requests.ts'

export const migrations = [
  ...runtimeMigrations('gateway'),
  { name: '0001_operators', class: operatorTables },
  { name: '0002_requests', class: requestTables },
]
