import { listedDays } from '@backoffice/contracts'
import { dayMs } from '@backoffice/service-runtime'

/** From a time on, and before another; undefined: without an end. */
export interface Period {
  readonly from: Date | undefined
  readonly to: Date | undefined
}

interface Asked {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/**
 * The period that a list is of. No index finds a rare status or method among the records of all operators, so what is
 * read for them has a bound.
 * @param isOwned whether the records of one owner are listed, which an index finds
 */
export function listedPeriod(
  { from, to }: Asked,
  { isOwned, now }: { readonly isOwned: boolean; readonly now: Date },
): Period {
  const end = to === undefined ? undefined : new Date(to)
  if (from !== undefined) return { from: new Date(from), to: end }
  if (isOwned) return { from: undefined, to: end }
  return { from: new Date((end ?? now).getTime() - listedDays * dayMs), to: end }
}
