import { type AddressInfo, connect, createServer } from 'node:net'
import { loadConfig, newId } from '@backoffice/process'
import { type Teardown, testBed } from '@backoffice/test-kit'
import { noVault } from '@backoffice/vault'
import { ROOT_CONTEXT } from '@opentelemetry/api'
import t from 'tap'
import { gatheredAttempts } from '../../src/commands/command.ts'
import { noGate } from '../../src/commands/gate.ts'
import { connectDatabase } from '../../src/database/connect.ts'
import { isPassingFault } from '../../src/index.ts'
import { serviceConfig } from '../../src/settings.ts'
import { adding, addUp, payments, wallet } from '../probe-services.ts'

const bed = await testBed(t, { payments, wallet })

/** A database that is reached over a line which breaks, once told to, between a commit and its answer. */
async function overBreakingLine(t: Teardown) {
  const url = new URL(bed.environment('payments').DATABASE_URL as string)
  const { hostname: host, port } = url
  const line = { breaks: false }
  const proxy = createServer((client) => {
    const server = connect(Number(port), host)
    client.on('data', (chunk) => server.write(chunk))
    server.on('data', (chunk) => {
      if (line.breaks && chunk.includes('COMMIT\0')) {
        line.breaks = false
        client.destroy()
      } else client.write(chunk)
    })
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const)
      one.on('error', () => {}).on('close', () => other.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.teardown(() => proxy.close())
  url.port = String((proxy.address() as AddressInfo).port)
  const config = loadConfig(serviceConfig, { DATABASE_URL: url.href, NATS_URL: 'nats://unused' })
  const db = await connectDatabase('payments', config, { vault: noVault })
  t.teardown(() => db.close())
  return { db, line }
}

t.test(
  'a batch whose commit nobody heard of is an unknown outcome for each call, and a retry finds its reply',
  async (t) => {
    const { db, line } = await overBreakingLine(t)
    const { log } = bed.services.payments
    const { addUpHandler } = payments.compose({} as never, {} as never, {}).operations as never as {
      addUpHandler: { command: never }
    }
    const gatherer = gatheredAttempts(addUp, addUpHandler.command, { db, log, gate: noGate })
    const scope = bed.scope()
    const attempt = (record: string) => ({
      operation: addUp,
      call: {
        input: { record, by: 1 },
        scope,
        operationId: newId('opn'),
        requestId: 'req',
        deadline: new Date(Date.now() + 10_000),
      },
      fingerprint: record,
      preparation: { is: 'prepared', value: undefined },
      byTeam: false,
      owner: 'x',
      bytes: 1,
      trace: ROOT_CONTEXT,
    })
    const attempts = ['one', 'two'].map(attempt)
    const run = () => Promise.allSettled(attempts.map((each) => gatherer.add(each as never)))
    line.breaks = true
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
