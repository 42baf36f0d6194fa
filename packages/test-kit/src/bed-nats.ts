import { randomBytes } from 'node:crypto'
import { type BrokerUser, brokerUsers, streamBytesMin, streamKeeper } from '@backoffice/contracts'
import { type RunningNats, startNats } from '@backoffice/dev-stack'
import { StreamKeeper } from '@backoffice/migrator/stream'
import { createLogger } from '@backoffice/process'
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
    await keepStream(url, endings)
    return { url }
  }
  if (areContainersWanted()) {
    const nats = await startNatsContainer(users.passwords)
    endings.push(nats.stop)
    await keepStream(nats.url, endings)
    return nats
  }
  const dir = temporaryFolder({ teardown: (end) => endings.push(end) })
  const nats = await startNats({ dir, ...users })
  endings.push(() => nats.child.stop())
  await keepStream(nats.url, endings)
  return nats
}

/** A keeper that makes the stream, and tells the services that it is there. */
async function keepStream(url: string, endings: (() => unknown)[]): Promise<void> {
  const login = { NATS_URL: url, NATS_PASSWORD: natsPassword(streamKeeper) }
  const settings = { replicas: 1, bytesMax: streamBytesMin }
  const keeper = await StreamKeeper.start(login, settings, createLogger('test bed', 'silent'))
  endings.push(() => keeper.stop())
}
