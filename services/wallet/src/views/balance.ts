import { fromMinorUnits } from '@backoffice/contracts'
import type { AccountRow } from '../storage/entities.ts'

export const balanceOf = ({ posted, held }: Pick<AccountRow, 'posted' | 'held'>) => ({
  available: fromMinorUnits(posted),
  withdrawable: fromMinorUnits(posted - held),
})
