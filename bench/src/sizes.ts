import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { operations, residentServices } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import type { AloneTools } from './books.ts'
import { percentile, type Results } from './figures.ts'
import * as fills from './fills.ts'
import { callOver, connectAs } from './load/nats-requests.ts'
import { get, post } from './load/operator.ts'
import { WebhookReceiver } from './references/webhook-receiver.ts'
import { inShort, table } from './report.ts'
import { memoryNow } from './stack/processes.ts'
import { Subject } from './stack/subject.ts'

/** How much there is of what in each system. `rows`: deliveries that wait, and as many published events and claims. */
const sizes = [
  { deposits: 100, entries: 10_000, rows: 1_000 },
  { deposits: 20_000, entries: 300_000, rows: 100_000 },
  // Ten million entries take five minutes to fill.
  { deposits: 200_000, entries: 3_000_000, rows: 1_000_000 },
] as const
/** With `--short` there is so much less. */
const shortShare = 100
const turns = 60
const endpoints = 20
const sendingMs = 10_000
const logMs = 2_000

/** What costs how much among few rows and among many, each time on a system of its own. */
export async function measureSizes({ options, ending, say, column, checkout }: AloneTools): Promise<Results> {
  const share = options.short ? shortShare : 1
  const columns: ReadonlyMap<string, number>[] = []
  for (const size of sizes) {
    await using ownEnding = new AsyncDisposableStack()
    ending.use(ownEnding)
    say(`starting a system for ${JSON.stringify(size)}`)
    const subject = await Subject.start(column, { checkout, under: options.dir }, ownEnding)
    const sized = new Sized(subject)
    await sized.measureDay(size.deposits / share)
    await sized.measureLedger(size.entries / share)
    await sized.measureRows(size.rows / share, await WebhookReceiver.start({ ending: ownEnding }))
    for (const [name, value] of sized.figures) say(`  ${name}: ${inShort(value)}`)
    columns.push(sized.figures)
  }
  const head = [
    '',
    ...sizes.map((size) =>
      Object.values(size)
        .map((n) => inShort(n / share))
        .join(' / '),
    ),
  ]
  const rows = [...(columns[0]?.keys() ?? [])].map((name) => [
    name,
    ...columns.map((one) => inShort(one.get(name) ?? Number.NaN)),
  ])
  return { measured: [], books: [], texts: { sizes: table(head, rows) } }
}

/** One system that is filled and measured step by step. */
export class Sized {
  readonly figures = new Map<string, number>()
  readonly #subject: Subject

  constructor(subject: Subject) {
    this.#subject = subject
  }

  async #p50(name: string, work: () => Promise<unknown>): Promise<void> {
    const times: number[] = []
    for (let turn = 0; turn < turns; turn += 1) times.push(await timeOf(work))
    this.figures.set(`${name}, ms`, percentile(times, 0.5))
  }

  /** A player with so many deposits today. */
  async measureDay(count: number): Promise<void> {
    const { operator, team } = this.#subject
    const [player = ''] = await this.#subject.players(1)
    await fills.fillDay(this.#subject, player, count)
    const made: string[] = []
    await this.#p50('a deposit of the player', async () => {
      const body = { amount: '0.01', currency: 'BRL', method: 'pix', externalReference: newId('dep') }
      made.push(String((await operator.ask(0, post(`/players/${player}/deposits`, body), 201)).id))
    })
    await this.#p50('its confirmation', () => operator.ask(0, post(`/deposits/${made.pop()}/confirm`, {}), 200))
    await this.#p50("the player's wallet", () => operator.ask(0, get(`/players/${player}/wallet`), 200))
    const listed = { playerId: player, limit: 50 }
    await this.#p50("the team's list of the player's deposits", () =>
      team.ask(operations.payments.listDeposits, listed),
    )
  }

  /** An operator's ledger of so many entries, a tenth of them of one player. */
  async measureLedger(entries: number): Promise<void> {
    const subject = this.#subject
    const { operator, team, scope } = subject
    // The first run looks at all, which is next to nothing yet.
    await team.reconcile()
    await fills.fillLedger(subject, entries)
    await fills.settleReconciliation(subject)
    const player = `/players/${fills.filledPlayers.large}`
    await this.#p50('wallet of the player with a tenth of all entries', () =>
      operator.ask(0, get(`${player}/wallet`), 200),
    )
    await this.#p50('first page of the statement', () => operator.ask(0, get(`${player}/transactions?limit=50`), 200))
    const cursor = await this.#lastCursor(player)
    await this.#p50('last page', () => operator.ask(0, get(`${player}/transactions?limit=50${cursor}`), 200))
    const connection = await connectAs(subject.login('payments'))
    await this.#p50('a credit over NATS', async () => {
      const credit = { playerId: fills.filledPlayers.large, depositId: newId('dep'), amount: '0.01' }
      const message = { scope, input: { ...credit, effectiveAt: new Date().toISOString() } }
      const failure = await callOver(connection, operations.wallet.creditAccount, message)
      if (failure !== undefined) throw new Error(failure)
    })
    await connection.close()
    this.figures.set('incremental reconciliation, s', (await timeOf(() => team.reconcile(false))) / 1_000)
  }

  /** Cursors are opaque, so all pages are read to find the last. */
  async #lastCursor(player: string): Promise<string> {
    for (let cursor = ''; ; ) {
      const { nextCursor } = await this.#subject.operator.ask(0, get(`${player}/transactions?limit=200${cursor}`), 200)
      if (nextCursor === null) return cursor
      cursor = `&cursor=${encodeURIComponent(String(nextCursor))}`
    }
  }

  /** So many deliveries that wait, published events and claims. */
  async measureRows(count: number, receiver: WebhookReceiver): Promise<void> {
    const subject = this.#subject
    await fills.fillClaims(subject, count)
    await this.#p50('a refused creation among the claims', () => subject.operator.ask(0, post('/players', {}), 422))
    await fills.fillPublished(subject, count)
    await fills.fillBacklog(subject, await fills.openEndpoints(subject, endpoints, receiver.url), count)
    for (const name of residentServices)
      this.figures.set(`${name} killed until ready, s`, (await this.#restart(name)) / 1_000)
    const listed = { state: 'pending', limit: 50 }
    await this.#p50("the team's list of what waits", () => subject.team.ask(operations.webhooks.listDeliveries, listed))
    await this.#measureSending()
  }

  /** Until the supervisor has it ready again. */
  #restart(name: string): Promise<number> {
    const { stack } = this.#subject
    const pid = stack.processes()[name]
    if (pid === undefined) throw new Error(`${name} does not run`)
    return timeOf(async () => {
      process.kill(pid, 'SIGKILL')
      while (stack.processes()[name] === pid) await wait(10)
    })
  }

  /** All endpoints may be sent to from now on. */
  async #measureSending(): Promise<void> {
    const { stack } = this.#subject
    await this.#subject.withSql(async (client) => {
      const log = async (setting: string) => {
        await client.query(`alter system ${setting}`)
        await client.query('select pg_reload_conf()')
      }
      await client.query('update webhooks.endpoint set enabled = true')
      await wait(sendingMs)
      const { rows } = await client.query<{ perSecond: number }>(
        `select count(*) / extract(epoch from max(finished_at) - min(finished_at))::float8 as "perSecond"
         from webhooks.delivery where finished_at is not null`,
      )
      this.figures.set('deliveries sent each second', rows[0]?.perSecond ?? Number.NaN)
      this.figures.set('memory of webhooks then, MiB', memoryNow(stack).figures['pssMiB.webhooks'] ?? Number.NaN)
      await log('set log_min_duration_statement = 0')
      await wait(logMs)
      await log('reset log_min_duration_statement')
    })
    const printed = readFileSync(stack.postgresLog, 'utf8')
    for (const [name, begin] of Object.entries({
      'what is due': 'with due as \\(select e.id',
      'the lease of it': 'with allowed as',
    })) {
      const found = printed.matchAll(new RegExp(`duration: ([\\d.]+) ms  execute (?:(?!duration: )[^])*?${begin}`, 'g'))
      this.figures.set(
        `a look for deliveries: ${name}, ms`,
        percentile(
          [...found].map(([, ms]) => Number(ms)),
          0.5,
        ),
      )
    }
  }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begunAtMs = performance.now()
  await work()
  return performance.now() - begunAtMs
}
