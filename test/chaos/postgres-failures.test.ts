// proof: kills PostgreSQL, fills its disk, and waits for the recovery.
// waits: for servers to recover and for real time-outs.

import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually, freePort } from '@backoffice/test-kit'
import t from 'tap'
import { PostgresPart } from './backends.ts'
import { MoneyBed } from './money-bed.ts'
import { Random } from './random.ts'
import { expectNone } from './run.ts'
import { SmallDisk, skipWithoutSmallDisks } from './small-disk.ts'

/** Twice what it needs. */
const diskMegabytes = 320

t.test('PostgreSQL fails while money moves', async (t) => {
  const random = Random.of(t)
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-small-'))
  // PostgreSQL runs as somebody else.
  chmodSync(dir, 0o755)
  t.teardown(() => rmSync(dir, { recursive: true }))
  const skip = skipWithoutSmallDisks()
  const folder = join(dir, 'disk')
  const disk = skip === false ? SmallDisk.mount(t, folder, diskMegabytes) : undefined
  // Its messages are not lost when the disk is full.
  const log = join(dir, 'postgres.log')
  if (disk !== undefined) symlinkSync(log, join(folder, 'postgres.log'))
  const postgres = await PostgresPart.start({
    dir: folder,
    port: await freePort(),
    password: 'password-of-postgres',
    durable: 'process',
  })
  t.teardown(() => postgres.stop())
  const money = await MoneyBed.start(t, random, { postgresUrl: postgres.url })
  await money.sql.query('create table public.filler (text text)')
  const load = money.load('load')
  t.teardown(() => load.end())
  await money.answers(20)

  const refusals = () => sum(money.operators.map(({ client }) => client.notFinal.get(refusal) ?? 0))
  const refusal = '503 SERVICE_UNAVAILABLE, Retry-After'
  const write = () =>
    money.sql.query("insert into public.filler select repeat('x', 1000) from generate_series(1, 100)").then(
      () => 'written',
      (error) => String(error.code ?? error.message),
    )

  await t.test('it is killed, and stopped at once: money moves again each time', async (t) => {
    for (const fail of [() => postgres.kill(), () => postgres.stopAtOnce(), () => postgres.kill()]) {
      await fail()
      await money.answers(10)
    }
    t.equal(postgres.isRunning, true)
  })

  await t.test('its disk is full: requests are refused until there is space', { skip }, async (t) => {
    disk?.fill()
    await eventually(async () => (await write()) === '53100')
    await eventually(() => refusals() >= 5)
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
    money.notFinal().filter((kind) => kind !== refusal && !kind.startsWith('409 IDEMPOTENCY_IN_PROGRESS')),
    [],
    'nobody was told anything else than to come back',
  )
  const problems = await money.conclude()
  expectNone(t, problems, random)
})

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)
