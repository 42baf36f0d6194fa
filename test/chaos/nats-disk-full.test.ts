// proof: fills a real disk and waits for the recovery.
// waits: for servers to recover and for real time-outs.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serviceNames, streamBytesMin } from '@backoffice/contracts'
import { outboxBacklog } from '@backoffice/service-runtime/testing'
import { eventually, freePort } from '@backoffice/test-kit'
import t from 'tap'
import { NatsPart } from './backends.ts'
import { MoneyBed } from './money-bed.ts'
import { Random } from './random.ts'
import { expectNone } from './run.ts'
import { SmallDisk, skipWithoutSmallDisks } from './small-disk.ts'

t.test("nats-server's disk is full while money moves", { skip: skipWithoutSmallDisks() }, async (t) => {
  const random = Random.of(t)
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-small-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  // JetStream promises the stream its size when it is made.
  const disk = SmallDisk.mount(t, join(dir, 'jetstream'), Math.ceil((2 * streamBytesMin) / 1024 ** 2))
  const port = await freePort()
  let nats: NatsPart | undefined
  t.teardown(() => nats?.stop())
  const money = await MoneyBed.start(t, random, {
    nats: async (users) => {
      nats = await NatsPart.start({ dir, port, ...users })
      return nats
    },
  })
  const { services } = money.bed

  /** What a service exports for the alert EventsStuck. */
  const waiting = async (name: 'payments' | 'players') => {
    const read = await outboxBacklog(services[name].db.reader, name).read()
    const ofEvents = (name: keyof typeof read) =>
      (read[name] ?? []).filter(({ attributes }) => Object(attributes).kind === 'event').map(({ value }) => value)
    return {
      rows: ofEvents('backoffice.outbox.unsent_rows').reduce((sum, rows) => sum + rows, 0),
      seconds: Math.max(...ofEvents('backoffice.outbox.oldest_unsent_seconds')),
    }
  }

  const load = money.load('load')
  t.teardown(() => load.end())
  await money.answers(20)
  disk.fill()
  await eventually(async () => (await waiting('payments')).rows >= 10 && (await waiting('payments')).seconds > 1)
  const before = await waiting('payments')
  await money.answers(20)
  t.ok((await waiting('payments')).seconds > before.seconds, 'the age of what waits tells it')
  await load.stop()
  t.same(
    money.notFinal().filter((kind) => !kind.startsWith('409 IDEMPOTENCY_IN_PROGRESS')),
    [],
    'money moves as ever: nobody was told to come back',
  )
  for (const name of serviceNames) {
    const { status } = await fetch(`http://127.0.0.1:${services[name].healthPort}/readyz`)
    t.equal(status, 200, `${name} is ready: it would not help to send its requests elsewhere`)
  }

  disk.free()
  // A nats-server that found its disk full does not look again before it is restarted.
  await nats?.kill()
  const problems = await money.conclude()
  expectNone(t, problems, random)
  t.equal((await waiting('payments')).rows + (await waiting('players')).rows, 0, 'nothing waits')
})
