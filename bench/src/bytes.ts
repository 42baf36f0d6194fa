import { setTimeout as wait } from 'node:timers/promises'
import { eventStream, serviceNames } from '@backoffice/contracts'
import { jetstreamManager } from '@nats-io/jetstream'
import type pg from 'pg'
import { createAndConfirm } from './cases/pairs.ts'
import { Load } from './load/load.ts'
import type { Options } from './options.ts'
import { WebhookReceiver } from './references/webhook-receiver.ts'
import { inShort, table } from './report.ts'
import { Subject } from './stack/subject.ts'

/** A table of less than this for each deposit is left out of the list, but not of the sums. */
const listedBytesMin = 5
const daySeconds = 86_400

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const round = (value: number) => Math.round(value).toLocaleString('en')

const keptText = (hours: number | undefined) =>
  hours === undefined ? 'for ever' : hours < 72 ? `${hours} hours` : `${inShort(hours / 24)} days`

/** What one deposit leaves behind, in bytes. */
interface BytesReport {
  readonly deposits: number
  /** Rows, indexes and TOAST of each table. */
  readonly tables: ReadonlyMap<string, number>
  /** Of the write-ahead log, without images of pages: those depend on checkpoints. */
  readonly wal: number
  /** What the stream keeps of one event. */
  readonly streamBytesPerEvent: number
  readonly failures: Readonly<Record<string, number>>
}

/** Bytes that stay, and for how long. docs/scaling.md has what that makes of disks. */
export function bytesText({ deposits, tables, wal, streamBytesPerEvent, failures }: BytesReport): string {
  const sorted = [...tables].toSorted(([, a], [, b]) => b - a)
  const forever = sum(sorted.map(([name, bytes]) => (hours[name] === undefined ? bytes : 0)))
  const emptied = sum(sorted.map(([name, bytes]) => bytes * (hours[name] ?? 0) * 3_600))
  const rows = sorted.flatMap(([name, bytes]) =>
    bytes < listedBytesMin ? [] : [[name, round(bytes), keptText(hours[name])]],
  )
  const failed = Object.entries(failures).map(([what, count]) => `  ${count} × ${what}`)
  return [
    `Bytes of one deposit, created and confirmed over HTTP and delivered as a webhook (${deposits} of them)`,
    table(['table', 'bytes', 'kept'], [...rows, ['all', round(sum([...tables.values()])), '']]),
    `${round(forever)} bytes are kept for ever. Byte-days of what is emptied again: ${round(emptied / daySeconds)}. Write-ahead log: ${round(wal)} bytes. An event in the stream: ${round(streamBytesPerEvent)} bytes.`,
    failed.length === 0 ? 'Failed: nothing.\n' : ['FAILED:', ...failed, ''].join('\n'),
  ].join('\n\n')
}

const clients = 16
/** Tables are vacuumed so often while they grow. In use autovacuum does that, so space of dead rows is used again. */
const rounds = 10
const settleMsMax = 120_000
const lookEveryMs = 200

/**
 * Bytes that one deposit adds, created and confirmed over HTTP and delivered as a webhook. The system has made as many
 * deposits before, so that there is space of dead rows to be used again, as there is after the first day in use.
 */
export async function measureBytes(
  { checkout, players, deposits }: Pick<Options, 'checkout' | 'players' | 'deposits'>,
  ending: AsyncDisposableStack,
  say: (line: string) => void,
): Promise<BytesReport> {
  say(`starting the system of ${checkout}`)
  const subject = await Subject.start('this', checkout, ending)
  const receiver = await WebhookReceiver.start({ ending })
  await subject.receiveAt(receiver.url)
  const load = new Load()
  const perRound = Math.ceil(deposits / rounds)
  const work = createAndConfirm(subject, await subject.players(players))
  const makeDeposits = async () => {
    let left = perRound
    const client = async (number: number) => {
      while (left-- > 0) await work(number, load)
    }
    await Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  }
  return subject.withSql(async (client) => {
    await client.query('create extension if not exists pg_walinspect')
    // A background run of its own would end in the middle of a measurement, or not.
    await client.query(`alter system set autovacuum = off`)
    await client.query('select pg_reload_conf()')
    let wal = 0
    let before: ReadonlyMap<string, number> = new Map()
    for (let round = 1; round <= 2 * rounds; round += 1) {
      say(`${perRound} deposits, round ${round} of ${2 * rounds}`)
      const from = await readPosition(client)
      await makeDeposits()
      await settle(client)
      if (round > rounds) wal += await readWal(client, from, await readPosition(client))
      await client.query('vacuum (analyze)')
      if (round === rounds) before = await readSizes(client)
    }
    const made = perRound * rounds
    const now = await readSizes(client)
    return {
      deposits: made,
      tables: new Map([...now].map(([name, bytes]) => [name, (bytes - (before.get(name) ?? 0)) / made])),
      wal: wal / made,
      streamBytesPerEvent: await eventBytes(subject),
      failures: Object.fromEntries(load.failures),
    }
  })
}

/** Until every event has arrived at its receiver and nothing is left to send. */
async function settle(client: pg.Client): Promise<void> {
  const deadline = Date.now() + settleMsMax
  for (;;) {
    const { rows } = await client.query<{ left: number }>(`
      select ((select count(*) from payments.outbox)
        + (select count(*) from webhooks.delivery where state = 'pending')
        + (select count(*) from payments.deposit where status = 'confirmed')
        - (select count(*) from webhooks.delivery where type = 'deposit.confirmed'))::integer as left`)
    if (rows[0]?.left === 0) return
    if (Date.now() > deadline) throw new Error(`${rows[0]?.left} events did not arrive`)
    await wait(lookEveryMs)
  }
}

async function eventBytes(subject: Subject): Promise<number> {
  const manager = await jetstreamManager(await subject.nats('streams'), { checkAPI: false })
  const { state } = await manager.streams.info(eventStream)
  return state.messages === 0 ? 0 : state.bytes / state.messages
}

/** How large each table of the services is now, with its indexes and large values. A partitioned one counts as one. */
async function readSizes(client: pg.Client): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query<{ table: string; bytes: number }>(
    `select n.nspname || '.' || coalesce(whole.relname, c.relname) as table,
       sum(pg_indexes_size(c.oid) + pg_relation_size(c.oid) + coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0))::float as bytes
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     left join pg_inherits i on i.inhrelid = c.oid left join pg_class whole on whole.oid = i.inhparent
     where c.relkind = 'r' and n.nspname = any($1) group by 1`,
    [serviceNames],
  )
  return new Map(rows.map(({ table, bytes }) => [table, bytes]))
}

async function readPosition(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ lsn: string }>('select pg_current_wal_flush_lsn()::text as lsn')
  return rows[0]?.lsn ?? '0/0'
}

/** What was written to the write-ahead log between two positions. Needs PostgreSQL's extension pg_walinspect. */
async function readWal(client: pg.Client, from: string, to: string): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(
    'select coalesce(sum(record_size), 0) as bytes from pg_get_wal_stats($1, $2)',
    [from, to],
  )
  return Number(rows[0]?.bytes)
}

/** How long the rows of tables are kept in production, by default. A table that is not named is kept for ever. */
const hours: Readonly<Record<string, number>> = {
  'payments.outbox': 0,
  'players.outbox': 0,
  'wallet.outbox': 0,
  // Three days, and as a whole day is dropped at once, up to a day more.
  'payments.published_event': 4 * 24,
  'players.published_event': 4 * 24,
  'webhooks.inbox': 18 * 24,
  'payments.operation': 3 * 24,
  'players.operation': 3 * 24,
  'gateway.claim': 24,
  'webhooks.delivery': 14 * 24,
  'webhooks.attempt': 14 * 24,
  'webhooks.lease': 0,
}
