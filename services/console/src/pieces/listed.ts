import { listedDays, operations, type Transition } from '@backoffice/contracts'
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

/** Each change of status of a deposit or a withdrawal. What the operator did stands under its name. */
export const historyOf = (transitions: readonly Transition[], operator: string) =>
  transitions.map(({ at, by, from, to, reason }) => ({
    at,
    who: by.kind === 'operator' ? operator : by.name,
    from,
    to,
    reason,
  }))

/** The name of an operator; its id while the gateway, which knows the names, does not answer. */
export async function operatorName({ person }: Visit, operatorId: string): Promise<string> {
  const operator = await person.call(operations.gateway.getOperator, { name: operatorId }).catch(() => undefined)
  return operator?.name ?? operatorId
}

/** The names of the operators of a list's rows, by their ids. */
export async function operatorNames(
  visit: Visit,
  rows: readonly { readonly operatorId: string }[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(rows.map(({ operatorId }) => operatorId))]
  const names = await Promise.all(ids.map((one) => operatorName(visit, one)))
  return new Map(ids.map((one, index) => [one, names[index] ?? one]))
}
