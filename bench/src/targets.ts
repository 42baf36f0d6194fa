import type { Column } from './case.ts'
import { find, type Results, roundsOf, type Spread, spread } from './figures.ts'

/** A figure of a case. */
interface Term {
  readonly id: string
  readonly figure: string
}

/** What a figure must reach, and what we wish it to reach after that. */
export interface Target {
  readonly title: string
  /** What it is compared with, in words. */
  readonly against: string
  readonly of: Term
  /** The figure is divided by this one in each round. Without it the figure itself is judged, in `unit`. */
  readonly over?: Term & {
    /** Always of this column, whichever column is judged. */
    readonly column?: Column
  }
  readonly unit?: string
  readonly wants: 'at least' | 'at most'
  readonly must: number
  readonly wish: number
}

const rate = (id: string): Term => ({ id, figure: 'perSecond' })
const p99 = (id: string): Term => ({ id, figure: 'p99Ms' })
const atLeast = (must: number, wish: number) => ({ wants: 'at least', must, wish }) as const
const atMost = (must: number, wish: number) => ({ wants: 'at most', must, wish }) as const

export const targets: readonly Target[] = [
  {
    title: 'create + confirm, pairs/s, 32 clients',
    against: 'SQL, one posting a transaction, 32 clients',
    of: rate('pairs-32'),
    over: rate('sql-uniform'),
    ...atLeast(0.07, 0.1),
  },
  {
    title: 'create + confirm, pairs/s, 128 clients',
    against: 'the same',
    of: rate('pairs-128'),
    over: rate('sql-uniform'),
    ...atLeast(0.11, 0.2),
  },
  {
    title: 'CPU per pair of all servers, 32 clients',
    against: '',
    of: { id: 'pairs-32', figure: 'cpuMs.servers' },
    unit: 'ms',
    ...atMost(6, 4),
  },
  {
    title: 'p50 of a request, 1 client',
    against: 'the checkout before',
    of: { id: 'pairs-1', figure: 'p50Ms' },
    over: { id: 'pairs-1', figure: 'p50Ms', column: 'before' },
    ...atMost(1, 0.7),
  },
  {
    title: 'GET wallet/s, 32 clients',
    against: 'Fastify + HMAC + one NATS echo',
    of: rate('wallet'),
    over: rate('echo'),
    ...atLeast(0.9, 1.3),
  },
  {
    title: 'replay/s, 32 clients',
    against: 'the same echo',
    of: rate('replay'),
    over: rate('echo'),
    ...atLeast(1, 1.5),
  },
  {
    title: 'signed GET /me/s',
    against: 'bare Fastify, same JSON',
    of: rate('me'),
    over: rate('bare'),
    ...atLeast(0.5, 0.6),
  },
  {
    title: 'wallet postings/s over NATS, 512 in flight',
    against: 'SQL, one posting a transaction, 32 clients',
    of: rate('postings-uniform'),
    over: rate('sql-uniform'),
    ...atLeast(2, 3),
  },
  {
    title: 'the same, one hot account',
    against: 'row-locking SQL, same distribution',
    of: rate('postings-hot'),
    over: rate('sql-hot'),
    ...atLeast(5, 8),
  },
  {
    title: 'the same, Zipf 2.0',
    against: 'row-locking SQL, same distribution',
    of: rate('postings-zipf'),
    over: rate('sql-zipf'),
    ...atLeast(5, 8),
  },
  {
    title: 'webhook deliveries/s to a local receiver',
    against: 'undici POST loop, same concurrency',
    of: rate('deliveries'),
    over: rate('post-loop'),
    ...atLeast(0.3, 0.5),
  },
  {
    title: 'p99 event to socket beside a black hole',
    against: 'without it',
    of: p99('beside-black-hole'),
    over: p99('without-black-hole'),
    ...atMost(1.2, 1.1),
  },
  {
    title: 'statement page p99, large account',
    against: 'small account of the same ledger',
    of: p99('statement-large'),
    over: p99('statement-small'),
    ...atMost(1.5, 1.2),
  },
  {
    title: 'cost of a claim among stored claims',
    against: 'among none',
    of: rate('claims-among-none'),
    over: rate('claims-among-many'),
    ...atMost(1.3, 1.1),
  },
  {
    title: 'memory of the services, idle',
    against: '',
    of: { id: 'memory-idle', figure: 'rssMiB' },
    unit: 'MiB',
    ...atMost(500, 400),
  },
  {
    title: 'memory of the services, under deposits',
    against: '',
    of: { id: 'memory-deposits', figure: 'rssMiB' },
    unit: 'MiB',
    ...atMost(800, 600),
  },
]

export type Verdict = 'wish reached' | 'must reached' | 'short'

export interface Judged {
  readonly target: Target
  readonly column: Column
  readonly value: Spread
  readonly verdict: Verdict
}

/** The verdict on every target whose cases were measured, for one checkout. */
export function judge(results: Results, column: Column): readonly Judged[] {
  return targets.flatMap((target) => {
    const values = valuesOf(results, target, column)
    if (values.length === 0) return []
    const value = spread(values)
    return [{ target, column, value, verdict: verdictOn(target, value.median) }]
  })
}

/** A ratio for each round, because the machine was in the same state for both figures. */
function valuesOf(results: Results, { of, over }: Target, column: Column): readonly number[] {
  const measured = find(results, { id: of.id, column })
  const values = roundsOf(measured, of.figure)
  if (measured === undefined || over === undefined) return values
  // A column is not compared with itself.
  if (over.column === column) return []
  const yardstick = find(results, { id: over.id, column: over.column ?? column, group: measured.group })
  const beside = roundsOf(yardstick, over.figure)
  return beside.length === 0 ? [] : values.map((value, round) => value / (beside[round] ?? Number.NaN))
}

export function verdictOn({ wants, must, wish }: Pick<Target, 'wants' | 'must' | 'wish'>, value: number): Verdict {
  const reaches = (bound: number) => (wants === 'at least' ? value >= bound : value <= bound)
  if (reaches(wish)) return 'wish reached'
  return reaches(must) ? 'must reached' : 'short'
}
