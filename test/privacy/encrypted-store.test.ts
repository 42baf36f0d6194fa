import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type BrokerUser,
  brokerUsers,
  eventSubject,
  streamApi,
  streamBytesMin,
  streamConfiguration,
  streamKeeper,
} from '@backoffice/contracts'
import { type RunningNats, startNats } from '@backoffice/dev-stack'
import { connectNats } from '@backoffice/service-runtime/client'
import t from 'tap'
import { bytesBelow } from './stored-files.ts'

// What docs/operations.md says of NATS_STORE_KEY: a server encrypts the stream that it has, and finds none under another
// key.

const password = 'secret'
const passwords = Object.fromEntries(brokerUsers.map((user) => [user, password])) as Record<BrokerUser, string>
const text = 'pix-of-zuleika'

t.test('a server that is given a key encrypts the stream that it has, and keeps its events', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-store-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const withServer = async <T>(storeKey: string | undefined, run: (server: RunningNats) => Promise<T>) => {
    const server = await startNats({ dir, passwords, ...(storeKey === undefined ? {} : { storeKey }) })
    try {
      return await run(server)
    } finally {
      await server.child.stop()
    }
  }
  const ask = async ({ url }: RunningNats, user: BrokerUser, subject: string, payload: string) => {
    const login = { NATS_URL: url, NATS_USER: user, NATS_PASSWORD: password }
    const connection = await connectNats(login, { name: user })
    try {
      return JSON.parse((await connection.request(subject, payload)).string())
    } finally {
      await connection.close()
    }
  }
  const stream = (server: RunningNats) => ask(server, streamKeeper, streamApi.info, '')

  await withServer(undefined, async (server) => {
    const configuration = streamConfiguration({ replicas: 1, bytesMax: streamBytesMin })
    await ask(server, streamKeeper, streamApi.create, JSON.stringify(configuration))
    t.match(await ask(server, 'payments', eventSubject('deposit.confirmed'), text), { seq: 1 })
  })
  t.ok(bytesBelow(join(dir, 'jetstream')).includes(text), 'it is stored in clear')

  t.match(await withServer('first', stream), { state: { messages: 1 } })
  t.notOk(bytesBelow(join(dir, 'jetstream')).includes(text), 'it is encrypted')

  t.match(await withServer('second', stream), { error: { description: 'stream not found' } })
})
