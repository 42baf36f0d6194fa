import { connectDatabase } from '@backoffice/database'
import { loadConfig } from '@backoffice/process'
import { testBed } from '@backoffice/test-kit'
import { noVault } from '@backoffice/vault'
import t from 'tap'
import { gatheredAttempts } from '../../src/commands/command.ts'
import { noGate } from '../../src/commands/gate.ts'
import { isPassingFault } from '../../src/index.ts'
import { serviceConfig } from '../../src/settings.ts'
import { breakingLine } from '../breaking-line.ts'
import { attemptOn } from '../probe-calls.ts'
import { adding, addUp, payments, wallet } from '../probe-services.ts'

const bed = await testBed(t, { payments, wallet })

t.test(
  'a batch whose commit nobody heard of is an unknown outcome for each call, and a retry finds its reply',
  async (t) => {
    let breaks = false
    const url = await breakingLine(t, {
      to: bed.environment('payments').DATABASE_URL as string,
      // Once: between a commit and its answer.
      fate(chunk, from) {
        if (!breaks || from === 'client' || !chunk.includes('COMMIT\0')) return 'pass'
        breaks = false
        return 'break'
      },
    })
    const config = loadConfig(serviceConfig, { DATABASE_URL: url, NATS_URL: 'nats://unused' })
    const db = await connectDatabase('payments', config, { vault: noVault })
    t.teardown(() => db.close())
    const { log, timers } = bed.services.payments
    const { addUpHandler } = payments.compose({} as never, {} as never, {}).operations as never as {
      addUpHandler: { command: never }
    }
    const gatherer = gatheredAttempts(addUp, addUpHandler.command, { db, timers, log, gate: noGate })
    const attempts = ['one', 'two'].map((record) => attemptOn(record, { scope: bed.scope() }))
    const run = () => Promise.allSettled(attempts.map((each) => gatherer.add(each)))
    breaks = true
    const batches = adding.batches.length
    for (const lost of await run()) {
      t.equal(lost.status, 'rejected')
      t.ok(isPassingFault((lost as PromiseRejectedResult).reason), 'the caller is told to try again')
    }
    t.equal(adding.batches.length, batches + 1, 'it is not run again here: nobody knows whether it happened')
    t.match(await run(), [
      { value: { is: 'known', known: { reply: { body: { count: 1 } } } } },
      { value: { is: 'known', known: { reply: { body: { count: 1 } } } } },
    ])
    const { rows } = await bed.sql('payments').query("select count from record where id in ('one', 'two')")
    t.same(rows, [{ count: 1 }, { count: 1 }])
  },
)
