import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { type BrokerUser, observer, systemObserver } from '@backoffice/contracts'

// Set them to run on a mirror's images, or on another version.
const postgresImage = process.env.POSTGRES_IMAGE ?? 'postgres:18-alpine'
const natsImage = process.env.NATS_IMAGE ?? 'nats:2.12-alpine'
const natsConfiguration = fileURLToPath(new URL('../../../deploy/nats', import.meta.url))
const startupTimeoutMs = 120_000
// A letter first: nats-server reads a value that begins with a digit as a number.
const randomPassword = () => `p${randomBytes(12).toString('hex')}`

export interface ContainerBackends {
  /** POSTGRES_URL and NATS_URL, for `npm start`. */
  readonly environment: Readonly<Record<'POSTGRES_URL' | 'NATS_URL', string>>
  readonly stop: () => Promise<void>
}

/**
 * Whether tests are to run on containers: when BACKENDS asks for them, never because an engine answers.
 * @throws for a word that means nothing, which would else run everything on other servers than somebody believes
 */
export function areContainersWanted({ BACKENDS: wanted = 'embedded' }: NodeJS.ProcessEnv = process.env): boolean {
  if (wanted !== 'embedded' && wanted !== 'containers') throw new Error(`BACKENDS is embedded or containers: ${wanted}`)
  return wanted === 'containers'
}

/**
 * PostgreSQL and nats-server in containers, with the configuration that a single production server has.
 * @param passwords of the programs, on nats-server
 * @throws when no Docker engine answers
 */
export async function startContainers(passwords: Readonly<Record<BrokerUser, string>>): Promise<ContainerBackends> {
  const { GenericContainer, Wait } = await import('testcontainers')
  const password = randomPassword()
  // Those of whom nobody logs in here have a password too, or the server does not start.
  const everybody = { [observer]: randomPassword(), [systemObserver]: randomPassword(), ...passwords }
  const variables = Object.entries(everybody).map(([user, own]) => [`NATS_PASSWORD_${user.toUpperCase()}`, own])
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
      .withEnvironment(Object.fromEntries(variables))
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
      POSTGRES_URL: postgresUrl,
      NATS_URL: `nats://${nats.getHost()}:${nats.getMappedPort(4222)}`,
    },
    stop: async () => {
      await Promise.all([postgres.stop(), nats.stop()])
    },
  }
}
