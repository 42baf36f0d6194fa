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
type Bound = ReturnType<typeof atLeast | typeof atMost>

const ratio = (title: string, against: string, of: Term, over: Target['over'], bound: Bound): Target => ({
  ...{ title, against, of, ...bound },
  ...(over === undefined ? {} : { over }),
})
const figure = (title: string, unit: string, of: Term, bound: Bound): Target => ({
  ...{ title, against: '', unit, of },
  ...bound,
})

const sql = 'SQL, one posting a transaction, 32 clients'
const lockingSql = 'row-locking SQL, same distribution'
const p50: Term = { id: 'pairs-1', figure: 'p50Ms' }

export const targets: readonly Target[] = [
  ratio('create + confirm, pairs/s, 32 clients', sql, rate('pairs-32'), rate('sql-uniform'), atLeast(0.07, 0.1)),
  ratio(
    'create + confirm, pairs/s, 128 clients',
    'the same',
    rate('pairs-128'),
    rate('sql-uniform'),
    atLeast(0.11, 0.2),
  ),
  figure('CPU per pair of all servers, 32 clients', 'ms', { id: 'pairs-32', figure: 'cpuMs.servers' }, atMost(6, 4)),
  ratio('p50 of a request, 1 client', 'the checkout before', p50, { ...p50, column: 'before' }, atMost(1, 0.7)),
  ratio('GET wallet/s, 32 clients', 'Fastify + HMAC + one NATS echo', rate('wallet'), rate('echo'), atLeast(0.9, 1.3)),
  ratio('replay/s, 32 clients', 'the same echo', rate('replay'), rate('echo'), atLeast(1, 1.5)),
  ratio('signed GET /me/s', 'bare Fastify, same JSON', rate('me'), rate('bare'), atLeast(0.5, 0.6)),
  ratio(
    'wallet postings/s over NATS, 512 in flight',
    sql,
    rate('postings-uniform'),
    rate('sql-uniform'),
    atLeast(2, 3),
  ),
  ratio('the same, one hot account', lockingSql, rate('postings-hot'), rate('sql-hot'), atLeast(5, 8)),
  ratio('the same, Zipf 2.0', lockingSql, rate('postings-zipf'), rate('sql-zipf'), atLeast(5, 8)),
  ratio(
    'webhook deliveries/s to a local receiver',
    'undici loop, a row before and after each POST',
    rate('deliveries'),
    rate('post-loop'),
    atLeast(0.5, 0.8),
  ),
  ratio(
    'p99 event to socket beside a black hole',
    'without it',
    p99('beside-black-hole'),
    p99('without-black-hole'),
    atMost(1.2, 1.1),
  ),
  ratio(
    'statement page p99, large account',
    'small account of the same ledger',
    p99('statement-large'),
    p99('statement-small'),
    atMost(1.5, 1.2),
  ),
  ratio(
    'cost of a claim among stored claims',
    'among none',
    rate('claims-among-none'),
    rate('claims-among-many'),
    atMost(1.3, 1.1),
  ),
  figure('memory of the services, idle', 'MiB', { id: 'memory-idle', figure: 'rssMiB' }, atMost(500, 400)),
  figure(
    'memory of the services, under deposits',
    'MiB',
    { id: 'memory-deposits', figure: 'rssMiB' },
    atMost(800, 600),
  ),
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
