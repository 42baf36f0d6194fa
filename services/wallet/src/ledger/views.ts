import { fromMinorUnits } from '@backoffice/contracts'
import type { Balance } from './records.ts'

export const balanceOf = ({ posted, held }: Pick<Balance, 'posted' | 'held'>) => ({
  available: fromMinorUnits(posted),
  withdrawable: fromMinorUnits(posted - held),
})
