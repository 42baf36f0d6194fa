import { setTimeout as wait } from 'node:timers/promises'
import { eventStream } from '@backoffice/contracts'
import { jetstreamManager } from '@nats-io/jetstream'
import type pg from 'pg'
import { createAndConfirm } from '../cases/pairs.ts'
import { Load } from '../load/load.ts'
import { connectAs } from '../load/nats-requests.ts'
import type { Options } from '../options.ts'
import { WebhookReceiver } from '../references/webhook-receiver.ts'
import { Subject } from '../stack/subject.ts'
import { readPosition, readSizes, readWal, type TableBytes } from './relation-sizes.ts'

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

export interface BytesReport {
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
    const after = await readSizes(client)
    const made = perRound * rounds
    const tables = [...after].map(([table, now]): TableGrowth => {
      const then = before.get(table) ?? { heap: 0, indexes: 0, toast: 0 }
      const grown = (kind: keyof TableBytes) => (now[kind] - then[kind]) / made
      return {
        table,
        heap: grown('heap'),
        indexes: grown('indexes'),
        toast: grown('toast'),
        wal: (wal.get(table) ?? 0) / made,
      }
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
