import { type NamedMigration, runtimeMigrations } from '@backoffice/service-runtime'
import { DepositsAndWithdrawals } from './0001-deposits-and-withdrawals.ts'

export const migrations: readonly NamedMigration[] = [
  ...runtimeMigrations('payments'),
  { name: '0001_deposits_and_withdrawals', class: DepositsAndWithdrawals },
]
