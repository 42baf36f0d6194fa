import { listedDays } from '@backoffice/contracts'
import { type Cell, lines, status, text } from './cells.ts'
import type { Visit } from './visit.ts'

/** Said of a list that goes back some days only, because nothing says whose records are meant, nor since when. */
export const lately = (
  { display }: Visit,
  { owner, from }: { readonly owner: string | undefined; readonly from: string | undefined },
): string | undefined => ((owner ?? from) === undefined ? display.t('listedLately', { days: listedDays }) : undefined)

/** The status of a record, which is the former one while its last decision is being carried out. */
export const settledStatus = ({ display }: Visit, row: { readonly status: string; readonly settling: boolean }): Cell =>
  lines(status(row.status), text(row.settling ? display.t('settlingShort') : null))
