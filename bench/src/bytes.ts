import { setTimeout as wait } from 'node:timers/promises'
import { eventStream, serviceNames } from '@backoffice/contracts'
import { jetstreamManager } from '@nats-io/jetstream'
import type pg from 'pg'
import { createAndConfirm } from './cases/pairs.ts'
import { Load } from './load/load.ts'
import { connectAs } from './load/nats-requests.ts'
import type { Options } from './options.ts'
import { WebhookReceiver } from './references/webhook-receiver.ts'
import { inShort, table } from './report.ts'
import { Subject } from './stack/subject.ts'

/** What a table of less than this for each deposit is left out of the list, but not of the sums. */
const listedBytesMin = 5
const gigabyte = 1e9
const daySeconds = 86_400
/** Deposits a second, created and confirmed. */
const rates = [3, 30, 300] as const

const sizeOf = ({ heap, indexes, toast }: TableGrowth) => heap + indexes + toast
const columns = [
  (one: TableGrowth) => one.heap,
  (one: TableGrowth) => one.indexes,
  (one: TableGrowth) => one.toast,
  sizeOf,
  (one: TableGrowth) => one.wal,
]
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const round = (value: number) => Math.round(value).toLocaleString('en')

const keptText = (hours: number | undefined) =>
  hours === undefined
    ? 'for ever'
    : hours === 0
      ? 'until done'
      : hours < 72
        ? `${hours} hours`
        : `${inShort(hours / 24)} days`

/** Bytes that stay, for how long, and how large that makes the database. */
export function bytesText(report: BytesReport): string {
  const tables = report.tables.toSorted((a, b) => sizeOf(b) - sizeOf(a))
  const total = (of: readonly TableGrowth[], what = sizeOf) => sum(of.map(what))
  const forever = tables.filter(({ table }) => hours[table] === undefined)
  const rows = tables
    .filter((one) => sizeOf(one) >= listedBytesMin || one.wal >= listedBytesMin)
    .map((one) => [one.table, ...columns.map((what) => round(what(one))), keptText(hours[one.table])])
  const all = ['all', ...columns.slice(0, -1).map((what) => round(total(tables, what))), round(report.wal), '']
  const purgedSeconds = total(tables, (one) => sizeOf(one) * (hours[one.table] ?? 0) * 3_600)
  const sizing = rates.map((rate) => [
    String(rate),
    inShort((rate * purgedSeconds) / gigabyte),
    ...[total(forever), report.wal, report.streamBytesPerEvent].map((bytes) =>
      inShort((rate * daySeconds * bytes) / gigabyte),
    ),
  ])
  const failed = Object.entries(report.failures).map(([what, count]) => `  ${count} × ${what}`)
  return [
    '',
    `Bytes of one deposit, created and confirmed over HTTP and delivered as a webhook (${report.deposits} of them)`,
    table(['table', 'rows', 'indexes', 'TOAST', 'together', 'WAL', 'kept'], [...rows, all]),
    `${round(total(tables))} bytes a deposit, ${round(total(forever))} of them for ever. Byte-days of what is deleted again: ${round(purgedSeconds / daySeconds)}. An event in the stream: ${round(report.streamBytesPerEvent)} bytes.`,
    'What that makes of the disks, in GB',
    table(
      ['deposits/s', 'deleted again', 'kept for ever, a day', 'WAL a day', 'stream a day, until max_bytes'],
      sizing,
    ),
    failed.length === 0 ? 'Failed: nothing.' : ['FAILED:', ...failed].join('\n'),
    '',
  ].join('\n\n')
}

const clients = 16
/** Tables are vacuumed so often while they grow. In use autovacuum does that, so space of dead rows is used again. */
const rounds = 10
const settleMsMax = 120_000
const lookEveryMs = 200

/** What one deposit adds to a table, in bytes. */
export interface TableGrowth extends TableBytes {
  readonly table: string
  readonly wal: number
}

interface BytesReport {
  readonly deposits: number
  readonly tables: readonly TableGrowth[]
  /** All of the write-ahead log without images of pages, per deposit. */
  readonly wal: number
  /** What the stream keeps of one event. */
  readonly streamBytesPerEvent: number
  readonly failures: Readonly<Record<string, number>>
}

/**
 * Bytes that one deposit adds, created and confirmed over HTTP and delivered as a webhook. The system has made as many
 * deposits before, so that there is space of dead rows to be used again, as there is after the first day in use.
 */
export async function measureBytes(
  { checkout, dir, players, deposits }: Pick<Options, 'checkout' | 'dir' | 'players' | 'deposits'>,
  ending: AsyncDisposableStack,
  say: (line: string) => void,
): Promise<BytesReport> {
  say(`starting the system of ${checkout}`)
  const subject = await Subject.start('this', { checkout, under: dir }, ending)
  const receiver = await WebhookReceiver.start({ ending })
  await subject.team.setWebhookUrl(subject.scope, receiver.url)
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
    const wal = new Map<string, number>()
    let walTotal = 0
    let before: ReadonlyMap<string, TableBytes> = new Map()
    for (let round = 1; round <= 2 * rounds; round += 1) {
      say(`${perRound} deposits, round ${round} of ${2 * rounds}`)
      const counts = round > rounds
      const from = await readPosition(client)
      await makeDeposits()
      await settle(client)
      if (counts) {
        const written = await readWal(client, from, await readPosition(client))
        walTotal += written.total
        for (const [table, bytes] of written.byTable) wal.set(table, (wal.get(table) ?? 0) + bytes)
      }
      await client.query('vacuum (analyze)')
      if (round === rounds) before = await readSizes(client)
    }
    const made = perRound * rounds
    const tables = [...(await readSizes(client))].map(([table, now]): TableGrowth => {
      const grown = (kind: keyof TableBytes) => (now[kind] - (before.get(table)?.[kind] ?? 0)) / made
      const [heap, indexes, toast] = [grown('heap'), grown('indexes'), grown('toast')]
      return { table, heap, indexes, toast, wal: (wal.get(table) ?? 0) / made }
    })
    const failures = Object.fromEntries(load.failures)
    return { deposits: made, tables, wal: walTotal / made, streamBytesPerEvent: await eventBytes(subject), failures }
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
  const connection = await connectAs(subject.login('payments'))
  try {
    const { state } = await (await jetstreamManager(connection, { checkAPI: false })).streams.info(eventStream)
    return state.messages === 0 ? 0 : state.bytes / state.messages
  } finally {
    await connection.close()
  }
}

/** Bytes of one table. A partitioned table counts as one, with all its partitions. */
interface TableBytes {
  readonly heap: number
  readonly indexes: number
  /** Values that are too large for a row. */
  readonly toast: number
}

/** Each relation with the table that it belongs to: a partition, an index and a TOAST table belong to a table. */
const relations = `
  with recursive part as (
    select c.oid, n.nspname || '.' || c.relname as table_name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and not c.relispartition and n.nspname = any($1)
    union all select i.inhrelid, part.table_name from part join pg_inherits i on i.inhparent = part.oid
  ), relation as (
    select oid, table_name, 'heap' as kind from part
    union all select x.indexrelid, table_name, 'indexes' from part join pg_index x on x.indrelid = part.oid
    union all select c.reltoastrelid, table_name, 'toast' from part join pg_class c on c.oid = part.oid where c.reltoastrelid <> 0
    union all select x.indexrelid, table_name, 'toast' from part join pg_class c on c.oid = part.oid
      join pg_index x on x.indrelid = c.reltoastrelid
  )
`

/** How large each table of the services is now. */
async function readSizes(client: pg.Client): Promise<ReadonlyMap<string, TableBytes>> {
  const { rows } = await client.query<TableBytes & { table: string }>(
    `${relations}
    select table_name as table, ${['heap', 'indexes', 'toast']
      .map((kind) => `coalesce(sum(pg_relation_size(oid)) filter (where kind = '${kind}'), 0)::float as ${kind}`)
      .join(', ')}
    from relation group by 1`,
    [serviceNames],
  )
  return new Map(rows.map(({ table, ...bytes }) => [table, bytes]))
}

interface WalBytes {
  /** What a table's rows and indexes wrote, by table. Images of whole pages are left out: they depend on checkpoints. */
  readonly byTable: ReadonlyMap<string, number>
  /** Of all tables, and what belongs to none, such as commits. */
  readonly total: number
}

async function readPosition(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ lsn: string }>('select pg_current_wal_flush_lsn()::text as lsn')
  return rows[0]?.lsn ?? '0/0'
}

/** What was written to the write-ahead log between two positions. Needs PostgreSQL's extension pg_walinspect. */
async function readWal(client: pg.Client, from: string, to: string): Promise<WalBytes> {
  const { rows: totals } = await client.query<{ bytes: string }>(
    'select coalesce(sum(record_size), 0) as bytes from pg_get_wal_stats($1, $2)',
    [from, to],
  )
  const { rows } = await client.query<{ table: string; bytes: string }>(
    `${relations}
    select table_name as table, sum(w.record_length - coalesce(w.block_fpi_length, 0)) as bytes
    from pg_get_wal_block_info($2, $3) w
    join pg_class c on pg_relation_filenode(c.oid) = w.relfilenode join relation r on r.oid = c.oid
    -- A record may touch several pages, and belongs to the table of its first.
    where w.block_id = 0 group by 1`,
    [serviceNames, from, to],
  )
  return {
    byTable: new Map(rows.map(({ table, bytes }) => [table, Number(bytes)])),
    total: Number(totals[0]?.bytes ?? 0),
  }
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
  'webhooks.delivery': 9 * 24,
  'webhooks.attempt': 9 * 24,
}
