import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import { type AloneTools, compareBooks } from './books.ts'
import { createAndConfirm } from './cases/pairs.ts'
import { latencyFigures, percentile, type Results } from './figures.ts'
import { fillOverdue } from './fills.ts'
import { closedLoop, steadyRate } from './load/load.ts'
import { inShort, table } from './report.ts'
import { ProcessTable } from './stack/processes.ts'
import { type Pulse, watchPulse } from './stack/pulse.ts'
import { Subject } from './stack/subject.ts'

const clients = 32
/** Rows of each table that are past their retention when the load begins. */
const overdueRows = 200_000
const maximumMs = 15_000
const lookEveryMs = 200
const peaksMax = 10
/** A peak is so many times what is usual in the seconds around it. */
const standsOut = 1.8
const aroundSeconds = 15
/** Of a second, from which on an event loop or a collection of garbage is named. */
const lateMs = 40
/** A process is named that uses this share of a core more than in the median second. */
const coreShare = 0.3

/** What was seen in each second: a name and, where it is a quantity, how much. */
type Seen = Map<number, Map<string, number>>

const note = (seen: Seen, second: number, what: string, value: number, most = false) => {
  const row = seen.get(second) ?? new Map<string, number>()
  row.set(what, most ? Math.max(row.get(what) ?? 0, value) : (row.get(what) ?? 0) + value)
  seen.set(second, row)
}
const nowSecond = () => Math.floor(Date.now() / 1_000)

/** What PostgreSQL does beside the load's own statements, and for what backends wait. */
const activity = `
  select case
    when backend_type = 'checkpointer' then 'PostgreSQL''s checkpoint'
    when backend_type = 'autovacuum worker' then query
    when usename ~ 'reconciler' then 'reconciliation'
    when query ~ 'delete from .* where ctid in' then 'purge of ' || substring(query from 'delete from "?(\\w+)')
    when query ~ 'insert into system_checkpoint' then 'wallet''s checkpoints'
    when query ~ 'analyze_young_table' then 'young tables'
    when wait_event_type in ('IO', 'Lock', 'LWLock') then 'waits for ' || wait_event end as what, count(*)::int
  from pg_stat_activity where pid <> pg_backend_pid()
    and (state = 'active' or backend_type = 'autovacuum worker' or backend_type = 'checkpointer' and wait_event <> 'CheckpointerMain')
  group by 1 having count(*) > 0`

/** Looks until it is stopped. */
function watch(subject: Subject, client: pg.Client): { readonly seen: Seen; stop(): Promise<void> } {
  const seen: Seen = new Map()
  let running = true
  const database = async () => {
    while (running) {
      const { rows } = await client.query<{ what: string | null; count: number }>(activity)
      for (const { what, count } of rows) if (what !== null) note(seen, nowSecond(), what, count)
      await wait(lookEveryMs)
    }
  }
  const processor = async () => {
    let before = new Map<string, number>()
    while (running) {
      const table = new ProcessTable()
      const now = new Map(Object.entries(subject.stack.processes()).map(([name, pid]) => [name, table.cpuMs(pid)]))
      for (const [name, ms] of now) note(seen, nowSecond() - 1, `cpu of ${name}`, ms - (before.get(name) ?? ms))
      before = now
      await wait(1_000)
    }
  }
  const own = watchPulse(({ second, loopMs }) => note(seen, second, 'loop of client', loopMs, true))
  const watching = Promise.all([database(), processor()])
  return {
    seen,
    async stop() {
      running = false
      clearInterval(own)
      await watching
    },
  }
}

interface Pair {
  readonly second: number
  readonly ms: number
}

/** A pair begins when it is due, on a connection that is free, and takes from then until both replies are there. */
async function openLoop(subject: Subject, load: { perSecond: number; windowMs: number }, players: readonly string[]) {
  const work = createAndConfirm(subject, players)
  const free: number[] = []
  let connections = 0
  const pairs: Pair[] = []
  const { failures } = await steadyRate(load, async (_turn, load, dueAtMs) => {
    const client = free.pop() ?? connections++
    await work(client, load)
    free.push(client)
    const second = Math.floor((performance.timeOrigin + dueAtMs) / 1_000)
    pairs.push({ second, ms: performance.now() - dueAtMs })
  })
  return { pairs, failures: Object.fromEntries(failures) }
}

/** One after the other while the load lasts: the first looks at all, the others at what is new, as in production. */
async function reconcileThrice(subject: Subject, windowMs: number): Promise<void> {
  for (const full of [true, false, false]) {
    await wait(windowMs / 4)
    await subject.team.reconcile(full)
  }
}

/**
 * Pairs at half of what as many clients as in the other cases reach, for minutes, while everything runs that does beside
 * requests: purges of overdue rows, vacuum, checkpoints of PostgreSQL and of the wallet, reconciliation.
 * @returns the latencies, and the worst seconds with what ran in them, in Markdown
 */
export async function measureTails({ options, ending, say, column, checkout }: AloneTools): Promise<Results> {
  say(`starting the system of ${checkout}`)
  const pulses = mkdtempSync(join(tmpdir(), 'backoffice-bench-pulses-'))
  ending.defer(() => rmSync(pulses, { recursive: true }))
  const env = { NODE_OPTIONS: `--import=${new URL('./stack/pulse.ts', import.meta.url)}`, BENCH_PULSE_DIR: pulses }
  const subject = await Subject.start(column, { checkout, under: options.dir, env }, ending)
  const players = await subject.players(options.players)
  const work = createAndConfirm(subject, players)
  const fastest = await closedLoop({ clients, warmUpMs: options.firstLoadMs, windowMs: maximumMs }, work)
  const perSecond = Math.round((fastest.operationsMs.length * 500) / fastest.windowMs)
  // The first purge is a minute after the start.
  await fillOverdue(subject, overdueRows)
  const windowMs = options.minutes * 60_000
  const { seen, pairs, failures } = await subject.withSql(async (client) => {
    const watching = watch(subject, client)
    const [loop] = await Promise.all([
      openLoop(subject, { perSecond, windowMs }, players),
      reconcileThrice(subject, windowMs),
    ])
    await watching.stop()
    return { seen: watching.seen, ...loop }
  })
  for (const name of readdirSync(pulses)) {
    for (const line of readFileSync(join(pulses, name), 'utf8').trim().split('\n')) {
      const { second, loopMs, garbageMs } = JSON.parse(line) as Pulse
      note(seen, second, `loop of ${name}`, loopMs, true)
      note(seen, second, `garbage of ${name}`, garbageMs)
    }
  }
  const figures = { ...latencyFigures(pairs.map(({ ms }) => ms)), perSecond, pairs: pairs.length }
  const title = `create + confirm, open loop at ${perSecond}/s for ${options.minutes} minutes`
  const parts = { p50: figures.p50Ms, p99: figures.p99Ms, 'p99.9': figures.p999Ms, worst: figures.worstMs }
  const said = Object.entries(parts).map(([name, ms]) => `${name} ${inShort(ms)} ms`)
  return {
    measured: [{ group: 'tails', id: 'tails', title, column, shows: 'p999Ms', samples: [{ figures, failures }] }],
    books: [await compareBooks(subject, say)],
    texts: { tails: `${title}: ${said.join(', ')}.\n\n${peaksText(pairs, seen)}` },
  }
}

/** The seconds whose longest pair stands out most among those around it; neighbours are one peak. */
function peaksText(pairs: readonly Pair[], seen: Seen): string {
  const worst = new Map<number, number>()
  for (const { second, ms } of pairs) worst.set(second, Math.max(ms, worst.get(second) ?? 0))
  const peaks: { from: number; to: number; ms: number; usual: number }[] = []
  for (const [second, ms] of [...worst].sort(([a], [b]) => a - b)) {
    const around = [...worst].flatMap(([other, ms]) => (Math.abs(other - second) <= aroundSeconds ? [ms] : []))
    const usual = percentile(around, 0.5)
    const last = peaks.at(-1)
    if (ms < usual * standsOut) continue
    if (last !== undefined && second - last.to <= 2) Object.assign(last, { to: second, ms: Math.max(ms, last.ms) })
    else peaks.push({ from: second, to: second, ms, usual })
  }
  const start = Math.min(...worst.keys())
  const rows = peaks
    .toSorted((a, b) => b.ms - b.usual - (a.ms - a.usual))
    .slice(0, peaksMax)
    .map(({ from, to, ms, usual }) => {
      const numbers = [`${from - start}–${to - start + 1}`, ms.toFixed(0), usual.toFixed(0)]
      return [...numbers, ranIn(seen, from, to).join(', ')]
    })
  return table(['second', 'worst ms', 'usual worst ms', 'what ran then'], rows)
}

/** What was seen in these seconds and is not seen in most others. */
function ranIn(seen: Seen, from: number, to: number): readonly string[] {
  const most = (what: string, rows: Iterable<Map<string, number>>) => [...rows].map((row) => row.get(what) ?? 0)
  const around = Array.from({ length: to - from + 2 }, (_, index) => seen.get(from + index)).filter(
    (row) => row !== undefined,
  )
  return [...new Set(around.flatMap((row) => [...row.keys()]))].flatMap((what) => {
    const [peak, usual] = [Math.max(...most(what, around)), percentile(most(what, seen.values()), 0.5)]
    const text = `${what} ${peak.toFixed(0)} ms`
    if (/^cpu/.test(what)) return peak - usual > coreShare * 1_000 ? [text] : []
    if (/^loop|^garbage/.test(what)) return peak > lateMs ? [text] : []
    if (/^waits/.test(what)) return peak > 3 * usual + 3 ? [`${peak} ${what}`] : []
    return usual === 0 ? [what] : []
  })
}
