import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { ReconciliationReport } from '@backoffice/contracts'
import type { AloneTools } from './books.ts'
import type { Results } from './figures.ts'
import { fillDeposits } from './fills.ts'
import { inShort, table } from './report.ts'
import { Sized } from './sizes.ts'
import { ProcessTable } from './stack/processes.ts'
import { Subject } from './stack/subject.ts'

const depositsOfPlayer = 100
/** Of another player, today. */
const depositsOfToday = 100
/** How long the reconciler may take until it has exported the heads of all accounts. */
const exportedWithinMs = 300_000

/** What it takes to open after a restore, and to prove everything behind, in ledgers of several sizes. */
export async function measureRecovery({ options, ending, say, column, checkout }: AloneTools): Promise<Results> {
  const sizes = [options.postings / 10, options.postings].map((size) => size / (options.short ? 10 : 1))
  const columns: ReadonlyMap<string, number>[] = []
  for (const postings of sizes) {
    await using ownEnding = new AsyncDisposableStack()
    ending.use(ownEnding)
    say(`filling ${inShort(postings)} postings`)
    mkdirSync(options.dir, { recursive: true })
    const heads = mkdtempSync(join(options.dir, 'backoffice-bench-heads-'))
    ownEnding.defer(() => rmSync(heads, { recursive: true, force: true }))
    const env = { HEADS_EXPORT_DIR: heads, HEADS_EXPORT_EVERY_MS: '5000', LEAVE_WHEN_IDLE_MS: '600000' }
    const subject = await Subject.start(column, { checkout, under: options.dir, env }, ownEnding)
    const figures = await measure(subject, postings, heads)
    for (const [name, value] of figures) say(`  ${name}: ${inShort(value)}`)
    columns.push(figures)
  }
  const rows = [...(columns[0]?.keys() ?? [])].map((name) => [
    name,
    ...columns.map((one) => inShort(one.get(name) ?? Number.NaN)),
  ])
  const head = ['postings', ...sizes.map((size) => inShort(size))]
  return { measured: [], books: [], texts: { recovery: table(head, rows) } }
}

async function measure(subject: Subject, postings: number, heads: string): Promise<ReadonlyMap<string, number>> {
  // The brand becomes known to all, and the first run, which is full, looks at next to nothing.
  await subject.players(1)
  await subject.team.reconcile(false)
  await fillDeposits(subject, postings)
  await exportAgain(heads)
  const proof = await timed(subject, () => subject.team.reconcile())
  const restoredTo = new Date().toISOString()
  const restored = await timed(subject, () => subject.team.reconcile(false, restoredTo))
  const accounts = restored.report.restored?.vouchedFor ?? 0
  if (accounts < postings / depositsOfPlayer) throw new Error(`heads vouch for ${accounts} accounts only`)
  const sized = new Sized(subject)
  await sized.measureDay(depositsOfToday)
  return new Map([
    ['accounts', accounts],
    ['after a restore, until money opens, s', restored.ms / 1_000],
    ['the same, µs of processor time an account', (restored.cpuMs * 1_000) / accounts],
    ['full proof, s', proof.ms / 1_000],
    ['the same, µs of processor time a posting', (proof.cpuMs * 1_000) / postings],
    ['of these, of PostgreSQL', (proof.postgresMs * 1_000) / postings],
    ...sized.figures,
  ])
}

/** The heads of all accounts are exported once a day. Without today's they are exported at the next look. */
async function exportAgain(heads: string): Promise<void> {
  const folder = join(heads, 'snapshot')
  const until = Date.now() + exportedWithinMs
  rmSync(folder, { recursive: true, force: true })
  const isWhole = () => existsSync(folder) && readdirSync(folder).some((name) => name.includes('-last-'))
  while (!isWhole()) {
    if (Date.now() > until) throw new Error('no heads were exported')
    await wait(500)
  }
  await wait(1_000)
}

/** @throws when something differs: then the figures are those of another ledger */
async function timed({ stack }: Subject, work: () => Promise<ReconciliationReport>) {
  const cpu = () => {
    const [processes, pids] = [new ProcessTable(), stack.processes()]
    const of = (name: string) => processes.cpuMs(pids[name] ?? 0)
    return { postgres: of('postgres'), all: of('postgres') + of('reconciler') }
  }
  const [from, begunAtMs] = [cpu(), performance.now()]
  const report = await work()
  const [ms, to] = [performance.now() - begunAtMs, cpu()]
  if (report.differencesTotal > 0) throw new Error(`it differs: ${JSON.stringify(report.differences[0])}`)
  return { report, ms, cpuMs: to.all - from.all, postgresMs: to.postgres - from.postgres }
}
