import type { Transition } from '@backoffice/contracts'
import { productionFirst } from '../fields.ts'
import { printRecord, printSection } from '../output.ts'

/** An operator is named by its id here, so a brand by that and the environment. */
export const ofAllOperators = { fixed: { brandId: undefined }, wording: productionFirst } as const

/** The operator of a row. Its name is null without the gateway. */
export const operatorColumn = [
  'operator',
  ({ operatorName, operatorId }: { readonly operatorName: string | null; readonly operatorId: string }) =>
    operatorName ?? operatorId,
] as const

/** The status of a record. While its last decision is being carried out, that is the former one. */
export const statusColumn = [
  'status',
  ({ status, settling }: { readonly status: string; readonly settling: boolean }) =>
    settling ? `${status}, settling` : status,
] as const

/** Both are shown, each on lines of its own, unless one is asked for. */
export const countedEnvironment = { environment: { help: 'only this one; both when absent' } } as const

export const waitingColumns = ['environment', 'waiting', ['oldest since', 'oldestAt']] as const

/** A deposit or withdrawal, then who changed it, when, from what to what and why. */
export function showWithHistory({ transitions, ...record }: { readonly transitions: readonly Transition[] }): void {
  printRecord(record)
  printSection('history', transitions, [
    'at',
    ['who', ({ by }) => `${by.kind} ${by.name}`],
    'from',
    'to',
    ['why', 'reason'],
  ])
}
