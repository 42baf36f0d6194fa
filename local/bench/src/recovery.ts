import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { operations, type ReconciliationReport } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { eventually, reconcile } from '@backoffice/test-kit'
import { percentile, type Results } from './figures.ts'
import type { AloneTools } from './options.ts'
import { ProcessTable } from './processes.ts'
import { inShort, table } from './report.ts'
import { depositsOfPlayer, expecting, fillDeposits, registerPlayers, type Subject, startSubject } from './subject.ts'

/** How often each request is sent whose time is shown. */
const turns = 60

/** What it takes to open after a restore, and to prove everything behind, in ledgers of two sizes. */
export async function measureRecovery({ options, ending, say, column, checkout }: AloneTools): Promise<Results> {
  const sizes = [options.postings / 10, options.postings].map((size) => size / (options.short ? 10 : 1))
  const columns: ReadonlyMap<string, number>[] = []
  for (const postings of sizes) {
    await using ownEnding = new AsyncDisposableStack()
    ending.use(ownEnding)
    say(`filling ${inShort(postings)} postings`)
    const heads = mkdtempSync(join(tmpdir(), 'backoffice-bench-heads-'))
    ownEnding.defer(() => rmSync(heads, { recursive: true, force: true }))
    const env = { HEADS_EXPORT_DIR: heads, HEADS_EXPORT_EVERY_MS: '5000', LEAVE_WHEN_IDLE_MS: '600000' }
    const subject = await startSubject(column, checkout, ownEnding, env)
    const figures = await measure(subject, postings, heads)
    for (const [name, value] of figures) say(`  ${name}: ${inShort(value)}`)
    columns.push(figures)
  }
  const values = (name: string) => columns.map((one) => inShort(one.get(name) ?? Number.NaN))
  const rows = [...(columns[0]?.keys() ?? [])].map((name) => [name, ...values(name)])
  const head = ['postings', ...sizes.map(inShort)]
  return { measured: [], books: [], texts: { recovery: table(head, rows) } }
}

async function measure(subject: Subject, postings: number, heads: string): Promise<ReadonlyMap<string, number>> {
  // The brand becomes known to all, and the first run, which is full, looks at next to nothing.
  const [player = ''] = await registerPlayers(subject, 1)
  await reconcile(subject.team, { full: false })
  await fillDeposits(subject, postings)
  await exportAgain(heads)
  const proof = await timed(subject, () => reconcile(subject.team, { full: true }))
  const restoredTo = new Date().toISOString()
  const restored = await timed(subject, () => reconcile(subject.team, { full: false, restoredTo }))
  const accounts = restored.report.restored?.vouchedFor ?? 0
  if (accounts < postings / depositsOfPlayer) throw new Error(`heads vouch for ${accounts} accounts only`)
  return new Map([
    ['accounts', accounts],
    ['after a restore, until money opens, s', restored.ms / 1_000],
    ['the same, µs of processor time an account', (restored.cpuMs * 1_000) / accounts],
    ['full proof, s', proof.ms / 1_000],
    ['the same, µs of processor time a posting', (proof.cpuMs * 1_000) / postings],
    ['of these, of PostgreSQL', (proof.postgresMs * 1_000) / postings],
    ...(await requestTimes(subject, player)),
  ])
}

/** What a player's requests take beside such a ledger. */
async function requestTimes({ operator, team }: Subject, player: string) {
  const figures: [string, number][] = []
  const p50 = async (name: string, work: () => Promise<unknown>) => {
    const times: number[] = []
    for (let turn = 0; turn < turns; turn += 1) {
      const begunAtMs = performance.now()
      await work()
      times.push(performance.now() - begunAtMs)
    }
    figures.push([`${name}, ms`, percentile(times, 0.5)])
  }
  const made: string[] = []
  await p50('a deposit of the player', async () => {
    const body = { amount: '0.01', currency: 'BRL', method: 'pix', externalReference: newId('dep') }
    made.push((await expecting(201, operator.post(`/players/${player}/deposits`, body))).id)
  })
  await p50('its confirmation', () => expecting(200, operator.post(`/deposits/${made.pop()}/confirm`)))
  await p50("the player's wallet", () => expecting(200, operator.get(`/players/${player}/wallet`)))
  const listed = { input: { playerId: player, limit: 50 } }
  await p50("the team's list of the player's deposits", () => team.call(operations.payments.listDeposits, listed))
  return figures
}

/** The heads of all accounts are exported once a day. Without today's they are exported at the next look. */
async function exportAgain(heads: string): Promise<void> {
  const folder = join(heads, 'snapshot')
  rmSync(folder, { recursive: true, force: true })
  await eventually(() => existsSync(folder) && readdirSync(folder).some((name) => name.includes('-last-')))
  await wait(1_000)
}

/** @throws when something differs: then the figures are those of another ledger */
async function timed(subject: Subject, work: () => Promise<ReconciliationReport>) {
  const cpu = () => {
    const [processes, pids] = [new ProcessTable(), subject.processes()]
    const of = (name: string) => processes.cpuMs(pids[name] ?? 0)
    return { postgres: of('postgres'), all: of('postgres') + of('reconciler') }
  }
  const [from, begunAtMs] = [cpu(), performance.now()]
  const report = await work()
  const [ms, to] = [performance.now() - begunAtMs, cpu()]
  if (report.differencesTotal > 0) throw new Error(`it differs: ${JSON.stringify(report.differences[0])}`)
  return { report, ms, cpuMs: to.all - from.all, postgresMs: to.postgres - from.postgres }
}
