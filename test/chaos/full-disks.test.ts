// proof: kills PostgreSQL, fills its disk and that of nats-server, and waits for the recovery.
// waits: for servers to recover and for real time-outs.

import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { serviceNames, streamBytesMin } from '@backoffice/contracts'
import { outboxBacklog } from '@backoffice/service-runtime/testing'
import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { SmallDisk, skipWithoutSmallDisks } from './backends.ts'
import { Random } from './random.ts'
import { expectNone, MoneyBed } from './run.ts'
import { startServers } from './system.ts'

/** Twice what PostgreSQL needs. */
const diskMegabytes = 320
const refusal = '503 SERVICE_UNAVAILABLE, Retry-After'

t.test('servers fail while money moves', async (t) => {
  const random = Random.of(t)
  const skip = skipWithoutSmallDisks()
  let [disk, natsDisk]: (SmallDisk | undefined)[] = []
  // JetStream promises the stream its size when it is made.
  const natsMegabytes = Math.ceil((2 * streamBytesMin) / 1024 ** 2)
  const prepare = (dir: string) => {
    if (skip !== false) return
    disk = SmallDisk.mount(t, join(dir, 'postgres'), diskMegabytes)
    natsDisk = SmallDisk.mount(t, join(dir, 'nats/jetstream'), natsMegabytes)
    // Its messages are not lost when the disk is full.
    symlinkSync(join(dir, 'postgres.log'), join(dir, 'postgres/postgres.log'))
  }
  const { postgres, nats: starting, servers } = await startServers(t, prepare)
  const money = await MoneyBed.start(t, random, servers)
  const nats = await starting
  await money.sql.query('create table public.filler (text text)')
  const load = money.load('load')
  t.teardown(() => load.end())
  await money.answers(20)

  const { services } = money.bed
  /** What a service exports for the alert EventsStuck. */
  const waiting = async () => {
    const read = await outboxBacklog(services.payments.db.reader, 'payments').read()
    const ofEvents = (name: keyof typeof read) =>
      (read[name] ?? []).filter(({ attributes }) => Object(attributes).kind === 'event').map(({ value }) => value)
    return {
      rows: ofEvents('backoffice.outbox.unsent_rows').reduce((sum, rows) => sum + rows, 0),
      seconds: Math.max(...ofEvents('backoffice.outbox.oldest_unsent_seconds')),
    }
  }
  const toldToComeBack = () => money.notFinal().filter((kind) => !kind.startsWith('409 IDEMPOTENCY_IN_PROGRESS'))

  await t.test("nats-server's disk is full: money moves as ever, and events wait", { skip }, async (t) => {
    natsDisk?.fill()
    await eventually(async () => (await waiting()).rows >= 10 && (await waiting()).seconds > 1)
    const before = await waiting()
    await money.answers(20)
    t.ok((await waiting()).seconds > before.seconds, 'the age of what waits tells it')
    t.same(toldToComeBack(), [], 'nobody was told to come back')
    for (const name of serviceNames) {
      const { status } = await fetch(`http://127.0.0.1:${services[name].healthPort}/readyz`)
      t.equal(status, 200, `${name} is ready: it would not help to send its requests elsewhere`)
    }
    natsDisk?.free()
    // A nats-server that found its disk full does not look again before it is restarted.
    await nats.kill()
    await eventually(async () => (await waiting()).rows === 0)
  })

  const write = () =>
    money.sql.query("insert into public.filler select repeat('x', 1000) from generate_series(1, 100)").then(
      () => 'written',
      (error) => String(error.code ?? error.message),
    )

  await t.test('PostgreSQL is killed, and stopped at once: money moves again each time', async (t) => {
    for (const fail of [() => postgres.kill(), () => postgres.stopAtOnce(), () => postgres.kill()]) {
      await fail()
      await money.answers(10)
    }
    t.equal(postgres.isRunning, true)
  })

  await t.test("PostgreSQL's disk is full: requests are refused until there is space", { skip }, async (t) => {
    const refusals = () => money.operators.reduce((sum, { client }) => sum + (client.notFinal.get(refusal) ?? 0), 0)
    const before = refusals()
    disk?.fill()
    await eventually(async () => (await write()) === '53100')
    await eventually(() => refusals() >= before + 5)
    t.equal(postgres.isRunning, true)
    disk?.free()
    await money.answers(20)
    t.pass('with space it goes on by itself')
  })

  await t.test('and it cannot even write its log: it ends all sessions until there is space', { skip }, async (t) => {
    disk?.fill()
    // Each uses up what is left of the files of its log.
    const advance = () => money.sql.query("select pg_logical_emit_message(false, 'x', 'x'), pg_switch_wal()")
    const outcome = await eventually(async () => {
      const code = await advance().then(
        () => false as const,
        (error) => String(error.code ?? error.message),
      )
      return code !== '53100' && code
    })
    t.match(outcome, /^57P0[123]$|terminated|ECONN/, 'PostgreSQL has ended its sessions')
    disk?.free()
    await eventually(async () => {
      // It gives up when it cannot recover either. What runs it starts it again.
      if (!postgres.isRunning) await postgres.startAgain()
      return (await write()) === 'written'
    })
    await money.answers(20)
    t.pass('and money moves again')
  })

  t.same(
    toldToComeBack().filter((kind) => kind !== refusal),
    [],
    'nobody was told anything else than to come back',
  )
  expectNone(t, await money.conclude(), random)
})
