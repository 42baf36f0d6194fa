import { type Migration, runtimeMigrations } from '@backoffice/service-runtime/migrations'
import { depositsAndWithdrawals } from './0001-deposits-and-withdrawals.ts'
import { deposited } from './0002-deposited.ts'
import { keptMoney } from './0003-kept-money.ts'
import { endedCommands } from './0004-ended-commands.ts'
import { sealedDestination } from './0005-sealed-destination.ts'
import { depositUpkeep } from './0006-deposit-upkeep.ts'
import { depositsOfPlayer } from './0007-deposits-of-player.ts'
import { depositOfDayDropped } from './0008-deposit-of-day-dropped.ts'
import { depositsByTime } from './0009-deposits-by-time.ts'
import { depositOfBrandDropped } from './0010-deposit-of-brand-dropped.ts'
import { depositsInPlace } from './0011-deposits-in-place.ts'
import { queueOfEnvironment } from './0012-queue-of-environment.ts'
import { withdrawalsOfEnvironment } from './0013-withdrawals-of-environment.ts'
import { withdrawalsOfOperator } from './0014-withdrawals-of-operator.ts'
import { withdrawalsOfPlayer } from './0015-withdrawals-of-player.ts'
import { paidWithdrawalsOfPlayer } from './0016-paid-withdrawals-of-player.ts'
import { oneQueueIndex } from './0017-one-queue-index.ts'
import { depositsOfEnvironment } from './0018-deposits-of-environment.ts'
import { brand } from './0019-brand.ts'
import { dayOfDepositor } from './0020-day-of-depositor.ts'
import { accounts } from './0021-accounts.ts'
import { reconcilable } from './0023-reconcilable.ts'

/** In the order in which they are applied. */
export const migrations: readonly Migration[] = [
  ...runtimeMigrations('payments'),
  depositsAndWithdrawals,
  deposited,
  keptMoney,
  endedCommands,
  sealedDestination,
  depositUpkeep,
  depositsOfPlayer,
  depositOfDayDropped,
  depositsByTime,
  depositOfBrandDropped,
  depositsInPlace,
  queueOfEnvironment,
  withdrawalsOfEnvironment,
  withdrawalsOfOperator,
  withdrawalsOfPlayer,
  paidWithdrawalsOfPlayer,
  oneQueueIndex,
  depositsOfEnvironment,
  brand,
  dayOfDepositor,
  accounts,
  reconcilable,
]
