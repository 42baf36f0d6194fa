// proof: the drill of the restore, with an archive and a base backup.
// waits: for servers to recover and for real time-outs.

import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { operations, type ServiceName, serviceNames, streamBytesMin } from '@backoffice/contracts'
import { makeStream } from '@backoffice/migrator/stream'
import { createLogger, patiently } from '@backoffice/process'
import { eventually, freePort, type HttpReply, type OperatorClient, reconcile, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { NatsPart } from '../chaos/backends.ts'
import { depositRequest, operatorIn, playerRequest } from '../journey.ts'
import { services } from '../services.ts'
import { ArchivingPostgres } from './archiving-postgres.ts'

/** Confirmed deposits before the backup, before the moment T and after it. A drill on a larger ledger sets it higher. */
const deposits = Number(process.env.RESTORE_DEPOSITS ?? 12)
const clients = 4
/** An export that is two periods old counts as missing, and a busy machine may be late by one. */
const headsEveryMs = patiently(2_000)
if (deposits > 300) t.setTimeout(300_000 + deposits * 1_000)

/**
 * The steps of docs/runbooks/restore.md. What a cluster does there with CloudNativePG is done here with a
 * PostgreSQL, its base backup, its archive of the log and a recovery target.
 */
t.test('a restore to an earlier moment', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-restore-'))
  // PostgreSQL runs as somebody else.
  chmodSync(dir, 0o755)
  t.teardown(() => rmSync(dir, { recursive: true }))
  const headsDir = join(dir, 'heads')
  mkdirSync(headsDir)
  const postgres = await ArchivingPostgres.start(dir, await freePort())
  t.teardown(() => postgres.stop())
  const natsPort = await freePort()
  let broker: NatsPart | undefined
  t.teardown(() => broker?.stop())
  const bed = await testBed(t, services, {
    servers: {
      postgresUrl: postgres.url,
      nats: async (users) => {
        broker = await NatsPart.start({ dir: join(dir, 'nats'), port: natsPort, ...users })
        return broker
      },
    },
    config: {
      gateway: { PORT: await freePort() },
      reconciler: { HEADS_EXPORT_DIR: headsDir, HEADS_EXPORT_EVERY_MS: headsEveryMs },
    },
  })
  const alice = bed.team('alice')
  const freeze = (names: readonly ServiceName[]) => Promise.all(names.map((name) => bed.services[name].drain()))
  const startAgain = async (name: ServiceName) => Object.assign(bed.services, { [name]: await bed.start(name) })
  const { client } = await operatorIn(t, bed)

  const book = new Book(client, clients)
  await eventually(() => book.confirmedSince(0) >= deposits)
  // With two entries behind it.
  const old = await eventually(() => entryOf('e.seq = 1 and a.seq > 2'))
  // As on any day but the first: an export of all accounts, and a run that has looked at what was entered until then. One that
  // is being written when it is removed would be whole again, and there is one a day.
  await nextExport(headsDir, 'snapshot', new Date(0))
  rmSync(join(headsDir, 'snapshot'), { recursive: true })
  // Whatever is there is new. It is named after the beginning of its interval, which may be before now.
  await nextExport(headsDir, 'snapshot', new Date(0))
  t.same((await reconcile(alice)).differences, [])
  await postgres.takeBackup()
  const afterBackup = Date.now()
  await eventually(() => book.confirmedSince(afterBackup) >= deposits)
  // Somebody with the database in hand changes what was entered since, and what was entered long before.
  const late = await eventually(() => entryOf('e.seq = 2'))
  for (const { transferId } of [old, late]) await changeReason(transferId, 'another')
  // PostgreSQL's clock and this one are of one machine.
  await wait(10)
  const moment = new Date()
  await eventually(() => book.confirmedSince(moment.getTime()) >= deposits)
  await book.stop()
  await nextExport(headsDir)
  await postgres.archiveAll()

  const before = book.deposits.filter(({ confirmation }) => confirmation.answeredAt < moment.getTime())
  const after = book.deposits.filter(({ confirmation }) => confirmation.sentAt > moment.getTime())
  // Their requests were under way at T: either is right.
  const either = book.deposits.filter((deposit) => !before.includes(deposit) && !after.includes(deposit))
  t.comment(`confirmed before T ${before.length}, after T ${after.length}, under way at T ${either.length}`)

  const frozenAt = performance.now()
  await freeze(serviceNames)
  await postgres.lose()
  await postgres.restoreTo(moment)
  // Its disks are lost as well.
  await broker?.wipe()
  await makeStream(
    await bed.nats('streams'),
    { replicas: 1, bytesMax: streamBytesMin },
    createLogger('restore', 'silent'),
  )
  // A real restore takes longer than the leases of what was under way at T.
  const sql = bed.sql('admin')
  await sql.query('update gateway.claim set leased_until = clock_timestamp() where leased_until is not null')
  for (const name of serviceNames) await sql.query(`update ${name}.outbox set leased_until = null`)
  await startAgain('reconciler')
  // As a command line that is started anew.
  await eventually(async () => (await bed.nats('console')).rtt())

  await t.test('brings back what was confirmed before it, and nothing of what was sent after it', async (t) => {
    const { rows } = await bed.sql('admin').query<{ id: string; amount: string }>(
      `select d.id, (e.amount / 100.0)::numeric(20, 2)::text as amount
      from payments.deposit d join wallet.transfer x on x.reference = d.id
      join wallet.entry e on e.transfer_id = x.id and e.seq is not null
      where d.status = 'confirmed'`,
    )
    const restored = new Map(rows.map(({ id, amount }) => [id, amount]))
    t.same(
      before.filter(({ id, amount }) => restored.get(id) !== amount).map(({ id }) => id),
      [],
      'each with its credit',
    )
    t.same(
      after.filter(({ id }) => restored.has(id)).map(({ id }) => id),
      [],
    )
    t.ok(before.length > 0 && after.length > 0)
  })

  // An export that is older than two periods would be a difference of its own.
  await nextExport(headsDir)
  const restoredTo = moment.toISOString()
  const report = await reconcile(alice, { restoredTo })

  await t.test('the reconciliation names each player who was credited after it, from the exported heads', async (t) => {
    const undone = report.differences.filter(({ check }) => check === 'exportedHeads')
    const named = new Set(undone.map(({ subject }) => subject.split(' ')[0]))
    const sure = new Set(after.map(({ playerId }) => playerId))
    const possible = new Set([...sure, ...either.map(({ playerId }) => playerId)])
    t.same(
      [...sure].filter((player) => !named.has(player)),
      [],
      'everybody',
    )
    t.same(
      [...named].filter((player) => !possible.has(player ?? '')),
      [],
      'and nobody else',
    )
    t.equal(undone.length, named.size)
    t.ok((report.restored?.vouchedFor ?? 0) > 0, 'heads vouch for accounts')
  })

  await t.test('before money opens a change of what was entered lately is found, and nothing else', async (t) => {
    const others = report.differences.filter(({ check }) => check !== 'exportedHeads')
    t.match(others, [{ check: 'chains', subject: new RegExp(late.transferId) }])
    await changeReason(late.transferId, null)
  })

  await t.test('once it is recorded, the reconciliation finds no difference', async (t) => {
    const input = { restoredTo, reason: 'the disks were lost' }
    await bed.agreed(operations.reconciler.recordRestore, { input })
    const { differences, provenSince } = await reconcile(alice, { restoredTo })
    t.same(differences, [])
    t.equal(provenSince, null, 'and everything is still to be proven')
  })

  await t.test('the proof behind finds the change of what was entered long before', async (t) => {
    const { differences, provenSince } = await reconcile(alice)
    t.match(differences, [{ check: 'chains', subject: new RegExp(old.transferId) }])
    t.not(provenSince, null)
    await changeReason(old.transferId, null)
  })

  await t.test('the operator repeats its requests, and each is done again or refused as unknown', async (t) => {
    for (const name of serviceNames) if (name !== 'reconciler') await startAgain(name)
    t.comment(`${Math.round(performance.now() - frozenAt)} ms from the freeze to the last service`)
    const statuses = new Set<number>()
    for (const deposit of [...either, ...after]) statuses.add((await book.confirmAgain(deposit)).status)
    t.same(
      [...statuses].filter((status) => status !== 200 && status !== 404),
      [],
    )
    const kept = new Set<number>()
    for (const deposit of before) kept.add((await book.confirmAgain(deposit)).status)
    t.same([...kept], [200])
    await eventually(async () => {
      const { rows } = await bed.sql('admin').query('select from payments.outbox')
      return rows.length === 0
    })
    t.same((await reconcile(alice)).differences, [])
  })

  await t.test('what is cut off from the restored ledger afterwards shows', async (t) => {
    const [victim] = before
    await client
      .post(`/players/${victim?.playerId}/deposits`, depositRequest('3.00'))
      .then(({ body }) => client.post(`/deposits/${body.id}/confirm`))
    await nextExport(headsDir)
    t.same((await reconcile(alice)).differences, [])
    await cutOff(victim?.playerId ?? '')
    t.match(
      (await reconcile(alice)).differences.filter(({ check }) => check === 'exportedHeads'),
      [{ subject: new RegExp(`^${victim?.playerId} entry `), actual: 'nothing' }],
    )
  })

  /** The newest entry of players of some kind. */
  async function entryOf(kind: string): Promise<{ readonly transferId: string }> {
    const { rows } = await bed.sql('admin').query(
      `select e.transfer_id as "transferId" from wallet.entry e join wallet.account a on a.id = e.account_id
      where ${kind} order by e.xid desc limit 1`,
    )
    return rows[0]
  }

  async function changeReason(transferId: string, reason: string | null): Promise<void> {
    const session = await bed.sql('admin').connect()
    await session.query("set session_replication_role = 'replica'")
    await session.query('update wallet.transfer set reason = $2 where id = $1', [transferId, reason])
    await session.query("set session_replication_role = 'origin'")
    session.release()
  }

  /** Takes the last entry off a player's chain, with balance and head, as somebody with the database in hand could. */
  async function cutOff(playerId: string): Promise<void> {
    const session = await bed.sql('admin').connect()
    await session.query("set session_replication_role = 'replica'")
    await session.query(
      `with cut as (
        delete from wallet.entry e using wallet.account a
        where a.id = e.account_id and a.owner_id = $1 and e.seq = a.seq returning e.transfer_id
      ), other as (delete from wallet.entry e using cut where e.transfer_id = cut.transfer_id and e.seq is null)
      delete from wallet.transfer x using cut where x.id = cut.transfer_id`,
      [playerId],
    )
    await session.query(
      `update wallet.account a set posted = before.balance, seq = before.seq, head = before.hash
      from wallet.entry before where before.account_id = a.id and a.owner_id = $1 and before.seq = a.seq - 1`,
      [playerId],
    )
    await session.query("set session_replication_role = 'origin'")
    session.release()
  }
})

/** Waits for a whole export that begins after now, so that it has the heads of all that was answered. */
async function nextExport(
  headsDir: string,
  kind: 'delta' | 'snapshot' = 'delta',
  since: Date = new Date(),
): Promise<void> {
  const first = since.toISOString().replaceAll(':', '-')
  const hasBegunSince = (name: string) => (/^(.+Z)-\d+-last-/.exec(name)?.[1] ?? '') >= first
  const folder = join(headsDir, kind)
  await eventually(() => existsSync(folder) && readdirSync(folder).some(hasBegunSince))
}

/** A request that changes something: how the operator sent it, and when. Times are of the machine's clock. */
interface Sent {
  readonly path: string
  readonly key: string
  readonly sentAt: number
  /** Infinite until it is answered. */
  answeredAt: number
}

/** A deposit as the operator has it in its own records. */
interface BookedDeposit {
  readonly playerId: string
  readonly id: string
  readonly amount: string
  readonly confirmation: Sent
}

const depositsPerPlayer = 4

/** Clients of one operator that register players and deposit for them, and the book that they keep of it. */
class Book {
  readonly deposits: BookedDeposit[] = []
  readonly #client: OperatorClient
  readonly #running: readonly Promise<void>[]
  #isStopped = false

  constructor(client: OperatorClient, clients: number) {
    this.#client = client
    this.#running = Array.from({ length: clients }, (_, index) => this.#play(index))
  }

  /** Deposits whose confirmation was sent after a moment and answered. */
  confirmedSince(moment: number): number {
    return this.deposits.filter(
      ({ confirmation: { sentAt, answeredAt } }) => sentAt > moment && Number.isFinite(answeredAt),
    ).length
  }

  /** Resolves when every request that was begun has its answer. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#running)
  }

  /** Sends a confirmation once more, as it was. */
  confirmAgain({ confirmation: { path, key } }: BookedDeposit): Promise<HttpReply> {
    return this.#answered(path, {}, key)
  }

  async #play(index: number): Promise<void> {
    while (!this.#isStopped) {
      const player = await this.#post('/players', playerRequest())
      for (let count = 0; count < depositsPerPlayer && !this.#isStopped; count += 1) {
        const amount = `${index + 1}.${10 + count}`
        const { id } = await this.#post(`/players/${player.id}/deposits`, depositRequest(amount))
        const path = `/deposits/${id}/confirm`
        const times = { sentAt: Date.now(), answeredAt: Number.POSITIVE_INFINITY }
        const confirmation: Sent = { path, key: randomUUID(), ...times }
        this.deposits.push({ playerId: player.id, id, amount, confirmation })
        await this.#post(path, {}, confirmation.key)
        confirmation.answeredAt = Date.now()
      }
    }
  }

  /** Repeats a request under its key until it has an answer that stays. */
  #answered(path: string, body: unknown, idempotencyKey: string): Promise<HttpReply> {
    return eventually(async () => {
      const reply = await this.#client.post(path, body, { idempotencyKey })
      if (reply.status >= 500) throw new Error(`${path}: ${reply.status} ${reply.bytes}`)
      return reply
    })
  }

  async #post(path: string, body: object, key: string = randomUUID()) {
    const reply = await this.#answered(path, body, key)
    if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${reply.bytes}`)
    return reply.body
  }
}
