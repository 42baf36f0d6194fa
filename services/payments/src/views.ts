import { listedDays, type Transition } from '@backoffice/contracts'
import { dayMs, withIsoTimes } from '@backoffice/service-runtime'
import type { StatusTransition } from './transition.ts'

/** The history up to the version of the record that is shown. Later transitions are not finished everywhere yet. */
export function shownTransitions(
  history: readonly StatusTransition[] = [],
  shown: { readonly version: number },
): Transition[] {
  return history.filter(({ version }) => version <= shown.version).map(withIsoTimes)
}

/** From a time on, and before another; undefined: without an end. */
export interface ListedPeriod {
  readonly from: Date | undefined
  readonly to: Date | undefined
}

interface AskedPeriod {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/**
 * The period that a list is of. No index finds a rare status or method among the records of all operators, so what is
 * read for them has a bound.
 * @param isOwned whether the records of one owner are listed, which an index finds
 */
export function listedPeriod(
  { from, to }: AskedPeriod,
  { isOwned, now }: { readonly isOwned: boolean; readonly now: Date },
): ListedPeriod {
  const end = to === undefined ? undefined : new Date(to)
  if (from !== undefined) return { from: new Date(from), to: end }
  if (isOwned) return { from: undefined, to: end }
  return { from: new Date((end ?? now).getTime() - listedDays * dayMs), to: end }
}
