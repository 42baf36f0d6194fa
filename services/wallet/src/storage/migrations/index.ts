import { type Migration, runtimeMigrations } from '@backoffice/service-runtime/migrations'
import { ledger } from './0001-ledger.ts'
import { accountOwner } from './0002-account-owner.ts'
import { wideCheckpoints } from './0003-wide-checkpoints.ts'
import { refusedCredits } from './0004-refused-credits.ts'
import { transfersByTime } from './0006-transfers-by-time.ts'
import { transferOfPeriodDropped } from './0007-transfer-of-period-dropped.ts'
import { brands } from './0008-brands.ts'
import { entriesStamped } from './0009-entries-stamped.ts'
import { creditedCorrections } from './0010-credited-corrections.ts'
import { debitedCorrections } from './0011-debited-corrections.ts'
import { brand } from './0012-brand.ts'
import { sumsAreNumbers } from './0013-sums-are-numbers.ts'
import { accountsStamped } from './0014-accounts-stamped.ts'
import { sidesOfTransfer } from './0016-sides-of-transfer.ts'
import { reconcilable } from './0017-reconcilable.ts'

/** In the order in which they are applied. */
export const migrations: readonly Migration[] = [
  ...runtimeMigrations('wallet'),
  ledger,
  accountOwner,
  wideCheckpoints,
  refusedCredits,
  transfersByTime,
  transferOfPeriodDropped,
  brands,
  entriesStamped,
  creditedCorrections,
  debitedCorrections,
  brand,
  sumsAreNumbers,
  accountsStamped,
  sidesOfTransfer,
  reconcilable,
]
