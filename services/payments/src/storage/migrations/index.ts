import { type Migration, runtimeMigrations } from '@backoffice/service-runtime/migrations'
import { depositsAndWithdrawals } from './0001-deposits-and-withdrawals.ts'
import { deposited } from './0002-deposited.ts'
import { keptMoney } from './0003-kept-money.ts'
import { endedCommands } from './0004-ended-commands.ts'
import { sealedDestination } from './0005-sealed-destination.ts'
import { depositUpkeep } from './0006-deposit-upkeep.ts'
import { queueOfEnvironment } from './0007-queue-of-environment.ts'
import { withdrawalsOfEnvironment } from './0008-withdrawals-of-environment.ts'
import { withdrawalsOfOperator } from './0009-withdrawals-of-operator.ts'
import { withdrawalsOfPlayer } from './0010-withdrawals-of-player.ts'
import { paidWithdrawalsOfPlayer } from './0011-paid-withdrawals-of-player.ts'
import { oneQueueIndex } from './0012-one-queue-index.ts'

/** In the order in which they are applied. */
export const migrations: readonly Migration[] = [
  ...runtimeMigrations('payments'),
  depositsAndWithdrawals,
  deposited,
  keptMoney,
  endedCommands,
  sealedDestination,
  depositUpkeep,
  queueOfEnvironment,
  withdrawalsOfEnvironment,
  withdrawalsOfOperator,
  withdrawalsOfPlayer,
  paidWithdrawalsOfPlayer,
  oneQueueIndex,
]
