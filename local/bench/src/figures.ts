/**
 * Whose figures they are: those of the checkout that is measured, of the one it is compared with (`--against`), or of a
 * reference, which is measured once for both.
 */
export type Column = 'this' | 'before' | 'reference'

/** One measurement: figures by name, such as `perSecond`, `p99Ms` or `cpuMs.wallet`, and how often what failed. */
export interface Sample {
  readonly figures: Readonly<Record<string, number>>
  readonly failures: Readonly<Record<string, number>>
}

/** One thing that is measured, with its samples. */
export interface Measured {
  /** The name by which the targets refer to it. */
  readonly id: string
  readonly title: string
  readonly column: Column
  /** The figure that stands for it in tables. */
  readonly shows: string
  readonly samples: readonly Sample[]
}

/** One thing that is measured again in each round. */
export interface Case extends Omit<Measured, 'samples'> {
  readonly measure: () => Promise<Sample>
}

/** The books of one system at the end, as the team's reconciliation reports them. */
export interface Books {
  readonly column: Column
  readonly compared: number
  readonly differences: number
  /** The first few differences, in words. */
  readonly examples: readonly string[]
}

export interface Results {
  readonly measured: readonly Measured[]
  readonly books: readonly Books[]
  /** Parts of docs/performance.md, in Markdown, by the name of their place. */
  readonly texts?: Readonly<Record<string, string>>
}

/** A figure of each round; empty when it was not measured. A reference is compared with every checkout. */
export function roundsOf({ measured }: Results, { id, figure }: Term, column: Column): readonly number[] {
  const found = measured.find((one) => one.id === id && (one.column === column || one.column === 'reference'))
  return (found?.samples ?? []).flatMap(({ figures }) => figures[figure] ?? [])
}

/** The failures of all rounds, counted by kind. */
export function failuresOf({ samples }: Pick<Measured, 'samples'>): Readonly<Record<string, number>> {
  const total: Record<string, number> = {}
  for (const { failures } of samples) {
    for (const [what, count] of Object.entries(failures)) total[what] = (total[what] ?? 0) + count
  }
  return total
}

/** Whether every reply was the expected one and all books agree. Missed targets do not count here. */
export const isSound = ({ measured, books }: Results): boolean =>
  measured.every((one) => Object.keys(failuresOf(one)).length === 0) &&
  books.every(({ differences }) => differences === 0)

/** The median of several rounds, with their least and most. */
export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

/** The least value that at least this share of the values does not exceed; NaN when there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

/** Of an even number of values, the mean of the two in the middle. */
export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  const low = sorted[Math.ceil(half) - 1] ?? Number.NaN
  const high = sorted[Math.floor(half)] ?? Number.NaN
  return { median: (low + high) / 2, least: sorted[0] ?? Number.NaN, most: sorted.at(-1) ?? Number.NaN }
}

/** A figure of a case. */
interface Term {
  readonly id: string
  readonly figure: string
}

/** What a figure must reach, and what we wish it to reach after that. */
interface Target {
  readonly title: string
  readonly of: Term
  /** The figure is divided by this one in each round; `against` says what it is. Without it the figure itself is judged. */
  readonly over?: Term
  readonly against?: string
  readonly unit?: string
  readonly wants: 'at least' | 'at most'
  readonly must: number
  readonly wish: number
}

const atLeast = (must: number, wish: number) => ({ wants: 'at least', must, wish }) as const
const atMost = (must: number, wish: number) => ({ wants: 'at most', must, wish }) as const
type Bound = ReturnType<typeof atLeast | typeof atMost>

/** A rate, divided by that of a reference. */
const ratio = (title: string, against: string, [of, over]: readonly [string, string], bound: Bound): Target => ({
  ...{ title, against, of: { id: of, figure: 'perSecond' }, over: { id: over, figure: 'perSecond' }, ...bound },
})
const figure = (title: string, unit: string, [id, figure]: readonly [string, string], bound: Bound): Target => ({
  ...{ title, unit, of: { id, figure }, ...bound },
})

const sql = 'SQL, one posting a transaction, 32 clients'
const lasting = 'five minutes from fresh, 32 clients:'

const targets: readonly Target[] = [
  ratio(`${lasting} pairs/s in minutes 3 to 5`, sql, ['lasting-late', 'sql-lasting'], atLeast(0.085, 0.1)),
  figure(`${lasting} worst ÷ best quarter`, '', ['evenness', 'worstToBest'], atLeast(0.85, 0.9)),
  figure(`${lasting} p99 of a request`, 'ms', ['lasting', 'p99Ms'], atMost(120, 80)),
  ratio('create + confirm, pairs/s, 128 clients', sql, ['pairs-128', 'sql'], atLeast(0.12, 0.15)),
  figure('CPU per pair of all servers, 32 clients', 'ms', ['pairs-32', 'cpuMs.servers'], atMost(3.8, 3)),
  figure('p50 of a pair, 1 client', 'ms', ['pairs-1', 'operationP50Ms'], atMost(14, 12)),
  ratio('rounds (bet + win)/s, 32 clients', 'deposit pairs/s', ['rounds-32', 'rounds-pairs-32'], atLeast(1.5, 2)),
  ratio('spins/s, 32 clients', 'deposit pairs/s', ['spins-32', 'rounds-pairs-32'], atLeast(2.5, 3)),
  {
    ...{ title: 'p50 of a bet, 1 client', against: 'p50 of a pair', ...atMost(0.6, 0.5) },
    of: { id: 'bets-1', figure: 'operationP50Ms' },
    over: { id: 'rounds-pairs-1', figure: 'operationP50Ms' },
  },
  {
    ...{ title: 'CPU per round of all servers, 32 clients', against: 'CPU per pair', ...atMost(0.6, 0.5) },
    of: { id: 'rounds-32', figure: 'cpuMs.servers' },
    over: { id: 'rounds-pairs-32', figure: 'cpuMs.servers' },
  },
  figure('p99 of one player with 50 spins a second', 'ms', ['turbo', 'p99Ms'], atMost(30, 20)),
  figure('disk of a round (bet + win)', 'bytes', ['round-bytes', 'bytes'], atMost(4_500, 3_500)),
  figure('CPU per GET wallet of all servers, 32 clients', 'ms', ['wallet', 'cpuMs.servers'], atMost(0.7, 0.5)),
  figure('CPU per page of 50 transactions of all servers', 'ms', ['page', 'cpuMs.servers'], atMost(1.1, 0.6)),
  ratio(
    'webhook deliveries/s to a local receiver',
    'undici loop, a row before and after each POST',
    ['deliveries', 'post-loop'],
    atLeast(0.5, 0.8),
  ),
  // Proportional: pages that processes share count once.
  figure('memory of the services, at rest', 'MiB', ['memory-idle', 'pssMiB'], atMost(250, 220)),
  figure('memory of the services, after five minutes', 'MiB', ['memory-deposits', 'pssMiB'], atMost(700, 500)),
]

interface Judged {
  readonly target: Target
  readonly value: Spread
  readonly verdict: 'wish reached' | 'must reached' | 'short'
}

/** The verdict on every target whose cases were measured, for one checkout. */
export function judge(results: Results, column: Column): readonly Judged[] {
  return targets.flatMap((target) => {
    const values = valuesOf(results, target, column)
    return values.length === 0
      ? []
      : [{ target, value: spread(values), verdict: verdictOn(target, spread(values).median) }]
  })
}

/** A ratio for each round, because the machine was in the same state for both figures. */
function valuesOf(results: Results, { of, over }: Target, column: Column): readonly number[] {
  const values = roundsOf(results, of, column)
  if (over === undefined) return values
  const beside = roundsOf(results, over, column)
  if (beside.length === 0) return []
  // A reference that ran before and after has no rounds.
  const hasRounds = beside.length === values.length
  return values.map((value, round) => value / ((hasRounds ? beside[round] : undefined) ?? spread(beside).median))
}

function verdictOn({ wants, must, wish }: Pick<Target, 'wants' | 'must' | 'wish'>, value: number) {
  const reaches = (bound: number) => (wants === 'at least' ? value >= bound : value <= bound)
  if (reaches(wish)) return 'wish reached'
  return reaches(must) ? 'must reached' : 'short'
}
