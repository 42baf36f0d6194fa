import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { brokerUsers, observer, systemObserver } from '@backoffice/contracts'
import { teamUsers } from '@backoffice/dev-stack'

// Set them to run on a mirror's images, or on another version.
const postgresImage = process.env.POSTGRES_IMAGE ?? 'postgres:18-alpine'
const natsImage = process.env.NATS_IMAGE ?? 'nats:2.12-alpine'
const natsConfiguration = fileURLToPath(new URL('../../../deploy/nats', import.meta.url))
const startupTimeoutMs = 120_000
// A letter first: nats-server reads a value that begins with a digit as a number.
const randomPassword = () => `p${randomBytes(12).toString('hex')}`
/** Every user of deploy/nats. */
const natsUsers = [...brokerUsers, observer, systemObserver, ...teamUsers]

export interface ContainerBackends {
  /** POSTGRES_URL, NATS_URL and the passwords of the NATS users, for `npm start`. */
  readonly environment: Readonly<Record<string, string>>
  readonly stop: () => Promise<void>
}

/** Whether a Docker engine can be reached. It is tried once, so that no test waits where there is none. */
export async function isEngineReachable(): Promise<boolean> {
  const { getContainerRuntimeClient } = await import('testcontainers')
  return getContainerRuntimeClient().then(
    () => true,
    () => false,
  )
}

/** PostgreSQL and nats-server in containers, with the configuration that a single production server has. */
export async function startContainers(): Promise<ContainerBackends> {
  const { GenericContainer, Wait } = await import('testcontainers')
  const password = randomPassword()
  // Each user has another password, so that nobody can log in under another's name.
  const passwords = Object.fromEntries(
    natsUsers.map((user) => [`NATS_PASSWORD_${user.toUpperCase()}`, randomPassword()]),
  )
  const [postgres, nats] = await Promise.all([
    new GenericContainer(postgresImage)
      .withEnvironment({ POSTGRES_PASSWORD: password })
      .withCommand(['postgres', '-c', 'max_connections=200'])
      .withExposedPorts(5432)
      // PostgreSQL starts twice: the first start only initialises.
      .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/, 2))
      .withStartupTimeout(startupTimeoutMs)
      .start(),
    new GenericContainer(natsImage)
      .withEnvironment(passwords)
      .withCopyDirectoriesToContainer([{ source: natsConfiguration, target: '/etc/backoffice-nats' }])
      .withCommand(['--config', '/etc/backoffice-nats/single.conf'])
      .withExposedPorts(4222)
      .withWaitStrategy(Wait.forLogMessage(/Server is ready/))
      .withStartupTimeout(startupTimeoutMs)
      .start(),
  ])
  const postgresUrl = `postgresql://postgres:${password}@${postgres.getHost()}:${postgres.getMappedPort(5432)}/postgres`
  return {
    environment: {
      ...passwords,
      POSTGRES_URL: postgresUrl,
      NATS_URL: `nats://${nats.getHost()}:${nats.getMappedPort(4222)}`,
    },
    stop: async () => {
      await Promise.all([postgres.stop(), nats.stop()])
    },
  }
}
