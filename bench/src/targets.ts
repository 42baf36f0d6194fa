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
  readonly over?: Term
  readonly unit?: string
  readonly wants: 'at least' | 'at most'
  readonly must: number
  readonly wish: number
}

const rate = (id: string): Term => ({ id, figure: 'perSecond' })
const p99 = (id: string): Term => ({ id, figure: 'p99Ms' })
/** Proportional: pages that processes share count once. */
const memory = (id: string): Term => ({ id, figure: 'pssMiB' })
const atLeast = (must: number, wish: number) => ({ wants: 'at least', must, wish }) as const
const atMost = (must: number, wish: number) => ({ wants: 'at most', must, wish }) as const
type Bound = ReturnType<typeof atLeast | typeof atMost>

const ratio = (title: string, against: string, of: Term, over: Term, bound: Bound): Target => ({
  ...{ title, against, of, over, ...bound },
})
const figure = (title: string, unit: string, of: Term, bound: Bound): Target => ({
  ...{ title, against: '', unit, of },
  ...bound,
})

const sql = 'SQL, one posting a transaction, 32 clients'
const lasting = 'five minutes from fresh, 32 clients:'

export const targets: readonly Target[] = [
  ratio(`${lasting} pairs/s in minutes 3 to 5`, sql, rate('lasting-late'), rate('sql-lasting'), atLeast(0.085, 0.1)),
  figure(`${lasting} worst ÷ best quarter`, '', { id: 'evenness', figure: 'worstToBest' }, atLeast(0.85, 0.9)),
  figure(`${lasting} p99 of a request`, 'ms', p99('lasting'), atMost(120, 80)),
  ratio('create + confirm, pairs/s, 128 clients', sql, rate('pairs-128'), rate('sql'), atLeast(0.12, 0.15)),
  figure('CPU per pair of all servers, 32 clients', 'ms', { id: 'pairs-32', figure: 'cpuMs.servers' }, atMost(3.8, 3)),
  figure('p50 of a pair, 1 client', 'ms', { id: 'pairs-1', figure: 'operationP50Ms' }, atMost(14, 12)),
  ratio('GET wallet/s, 32 clients', 'Fastify + HMAC + one NATS echo', rate('wallet'), rate('echo'), atLeast(1, 1.3)),
  figure('page of 50 transactions/s, 32 clients', '', rate('page'), atLeast(1_700, 3_000)),
  ratio('signed GET /me/s', 'bare Fastify, same JSON', rate('me'), rate('bare'), atLeast(0.5, 0.6)),
  ratio(
    'webhook deliveries/s to a local receiver',
    'undici loop, a row before and after each POST',
    rate('deliveries'),
    rate('post-loop'),
    atLeast(0.5, 0.8),
  ),
  figure('memory of the services, at rest', 'MiB', memory('memory-idle'), atMost(250, 220)),
  figure('memory of the services, after five minutes', 'MiB', memory('memory-deposits'), atMost(700, 500)),
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
  const beside = roundsOf(find(results, { id: over.id, column }), over.figure)
  if (beside.length === 0) return []
  // A reference that ran before and after has no rounds.
  return values.map(
    (value, round) => value / ((beside.length === values.length ? beside[round] : undefined) ?? spread(beside).median),
  )
}

export function verdictOn({ wants, must, wish }: Pick<Target, 'wants' | 'must' | 'wish'>, value: number): Verdict {
  const reaches = (bound: number) => (wants === 'at least' ? value >= bound : value <= bound)
  if (reaches(wish)) return 'wish reached'
  return reaches(must) ? 'must reached' : 'short'
}
