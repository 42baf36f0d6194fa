import { freePort, type StackSecrets, stackSecrets } from '@backoffice/dev-stack'
import { services } from '@backoffice/migrator/schema'
import { areContainersWanted, startNatsContainer, startPostgresContainer } from './containers.ts'
import { createDatabase, createEmptyDatabase, type TestDatabase } from './postgres.ts'

export type BackendName = 'postgres' | 'nats'

/** PostgreSQL and nats-server of one system. */
export interface Backends {
  /** POSTGRES_URL and NATS_URL, for `npm start`; it starts by itself what is left out. */
  readonly environment: Readonly<Record<string, string>>
  /** Kills one, which loses its disk if it is nats-server, and resolves when it runs again. Null: it is the stack's own. */
  readonly crash: ((name: BackendName) => Promise<void>) | null
  readonly stop: () => Promise<void>
}

const stacksOwn: Backends = { environment: {}, crash: null, stop: async () => {} }
const connectionsMax = 200

/**
 * Backends of the system whose folder is `dir`. Containers have the passwords of its secrets, so that whoever knows the
 * folder can log in.
 * @param own whether it shares nothing with others, because they crash
 * @param databases 1: it is migrated already, as all tests' are, and the stack finds nothing to do
 */
export async function startBackends(
  dir: string,
  { own, databases, environment }: { own: boolean; databases: number; environment: NodeJS.ProcessEnv },
): Promise<Backends> {
  const shared = own ? undefined : environment.POSTGRES_URL
  const databaseOn = (url: string) =>
    backendsOn(databases === 1 ? createDatabase(services, url) : createEmptyDatabase(url))
  if (!areContainersWanted(environment)) return shared === undefined ? stacksOwn : databaseOn(shared)
  const { nats: passwords } = stackSecrets(dir)
  if (shared === undefined) return startContainers(passwords)
  const [database, nats] = await Promise.all([databaseOn(shared), startNatsContainer(passwords)])
  return {
    environment: { ...database.environment, NATS_URL: nats.url },
    crash: null,
    stop: async () => void (await Promise.all([database.stop(), nats.stop()])),
  }
}

async function backendsOn(created: Promise<TestDatabase>): Promise<Backends> {
  const { url, drop } = await created
  return { environment: { POSTGRES_URL: url }, crash: null, stop: drop }
}

/** They keep their addresses when they crash. */
async function startContainers(passwords: StackSecrets['nats']): Promise<Backends> {
  const natsPort = await freePort()
  const [postgres, first] = await Promise.all([
    startPostgresContainer(connectionsMax, await freePort()),
    startNatsContainer(passwords, natsPort),
  ])
  let nats = first
  return {
    environment: { POSTGRES_URL: postgres.url, NATS_URL: nats.url },
    async crash(name) {
      if (name === 'postgres') return postgres.crash()
      await nats.stop()
      nats = await startNatsContainer(passwords, natsPort)
    },
    stop: async () => void (await Promise.all([postgres.stop(), nats.stop()])),
  }
}
