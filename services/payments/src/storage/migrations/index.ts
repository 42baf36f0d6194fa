import { type Migration, runtimeMigrations } from '@backoffice/service-runtime'
import { teamTables } from '@backoffice/team-access/migrations'
import { baseline } from './0001-baseline.ts'
import { reviewedWithdrawals } from './0002-reviewed-withdrawals.ts'
import { queueByAmount } from './0003-queue-by-amount.ts'
import { paymentFiles } from './0004-payment-files.ts'

/** In the order in which they are applied. */
export const migrations: readonly Migration[] = [
  ...runtimeMigrations('payments', teamTables),
  baseline,
  reviewedWithdrawals,
  queueByAmount,
  paymentFiles,
]
