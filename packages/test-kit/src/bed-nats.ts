import { randomBytes } from 'node:crypto'
import { type BrokerUser, brokerUsers, streamBytesMin, streamKeeper } from '@backoffice/contracts'
import { type RunningNats, startNats } from '@backoffice/dev-stack'
import { makeStream } from '@backoffice/migrator/stream'
import { createLogger } from '@backoffice/process'
import { connectNats } from '@backoffice/rpc'
import { areContainersWanted, startNatsContainer } from './containers.ts'
import { temporaryFolder } from './temporary-folder.ts'
import type { TestBedOptions } from './test-bed.ts'

const ofThisProcess = randomBytes(9).toString('hex')

/** On the bed's nats-server. Nobody else knows it: an engine shows the ports of its containers to the whole network. */
export const natsPassword = (user: string) => `p${ofThisProcess}-of-${user}`

export async function startBedNats(
  endings: (() => unknown)[],
  { servers }: TestBedOptions,
): Promise<Pick<RunningNats, 'url'>> {
  const passwordsOf = (users: readonly string[]) => Object.fromEntries(users.map((user) => [user, natsPassword(user)]))
  const users = { passwords: passwordsOf(brokerUsers) as Record<BrokerUser, string> }
  if (servers?.nats !== undefined) {
    const { url } = await servers.nats(users)
    await makeBedStream(url)
    return { url }
  }
  if (areContainersWanted()) {
    const nats = await startNatsContainer(users.passwords)
    endings.push(nats.stop)
    await makeBedStream(nats.url)
    return nats
  }
  const dir = temporaryFolder({ teardown: (end) => endings.push(end) })
  const nats = await startNats({ dir, ...users })
  endings.push(() => nats.child.stop())
  await makeBedStream(nats.url)
  return nats
}

/** As the migration Job does. */
async function makeBedStream(url: string): Promise<void> {
  const login = { NATS_URL: url, NATS_USER: streamKeeper, NATS_PASSWORD: natsPassword(streamKeeper) }
  const connection = await connectNats(login, { name: 'test bed' })
  try {
    await makeStream(connection, { replicas: 1, bytesMax: streamBytesMin }, createLogger('test bed', 'silent'))
  } finally {
    await connection.close()
  }
}
