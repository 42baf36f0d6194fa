import { type NamedMigration, runtimeMigrations } from '@backoffice/service-runtime'
import { Ledger } from './0001-ledger.ts'
import { AccountOwner } from './0002-account-owner.ts'

export const migrations: readonly NamedMigration[] = [
  ...runtimeMigrations('wallet'),
  { name: '0001_ledger', class: Ledger },
  { name: '0002_account_owner', class: AccountOwner },
]
