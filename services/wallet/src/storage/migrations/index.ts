import { type NamedMigration, runtimeTables } from '@backoffice/service-runtime'
import { Ledger } from './0001-ledger.ts'

export const migrations: readonly NamedMigration[] = [runtimeTables('wallet'), { name: '0001_ledger', class: Ledger }]
