/** What a player did before a withdrawal. Amounts are in minor units. */
export interface Past {
  readonly paidBefore: boolean
  /** Of the latest withdrawals that were paid before. */
  readonly destinations: readonly string[]
  readonly deposits: CountAndSum
  readonly withdrawals: CountAndSum
}

interface CountAndSum {
  readonly count: number
  readonly amount: bigint
}

/** How far back sums go. */
const sumDays = 30
const dayMs = 86_400_000
export const sumsBegin = (now: Date): Date => new Date(now.getTime() - sumDays * dayMs)

export const isFirstWithdrawal = ({ paidBefore }: Pick<Past, 'paidBefore'>): boolean => !paidBefore

/** The same destination may be written in another case, or with spaces around it. */
export function isDestinationKnown(destination: string, { destinations }: Pick<Past, 'destinations'>): boolean {
  const known = new Set(destinations.map(comparable))
  return known.has(comparable(destination))
}

const comparable = (destination: string): string => destination.trim().toLowerCase()
