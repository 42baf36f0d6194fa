import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { BrokerUser } from '@backoffice/contracts'
import type { StartedTestContainer } from 'testcontainers'

const deployFolder = fileURLToPath(new URL('../../../deploy/', import.meta.url))
const startupTimeoutMs = 120_000
// A letter first: nats-server reads a value that begins with a digit as a number.
const randomPassword = () => `p${randomBytes(12).toString('hex')}`

/** A server in a container: what a test needs of it. */
export interface ServerContainer {
  readonly url: string
  /** Kills it, and resolves when it runs again, with its disk, under the same address if it has a lasting `port`. */
  readonly crash: () => Promise<void>
  /** Ends it with all that it stored. */
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
 * PostgreSQL in a container, as the local overlay has it.
 * @param port on this machine, of a server that is to crash; any when left out
 * @throws when no Docker engine answers
 */
export async function startPostgresContainer(connectionsMax: number, port?: number): Promise<ServerContainer> {
  const password = randomPassword()
  const { GenericContainer, Wait } = await engine()
  const container = await new GenericContainer(imageIn('k8s/overlays/local/postgres.yaml', 'postgres'))
    .withEnvironment({ POSTGRES_PASSWORD: password })
    .withCommand(['postgres', '-c', `max_connections=${connectionsMax}`])
    .withExposedPorts(port === undefined ? 5432 : { container: 5432, host: port })
    // Over TCP: the server of the first initialisation listens on its socket only.
    .withWaitStrategy(Wait.forSuccessfulCommand('pg_isready --host=127.0.0.1 --username=postgres'))
    .withStartupTimeout(startupTimeoutMs)
    .start()
  return running(container, `postgresql://postgres:${password}@${addressOf(container, 5432)}/postgres`)
}

/**
 * nats-server in a container, with the users and the configuration of a single production server.
 * @param passwords of the programs
 * @param port on this machine, of a server that is to crash; any when left out
 * @throws when no Docker engine answers
 */
export async function startNatsContainer(
  passwords: Readonly<Record<BrokerUser, string>>,
  port?: number,
): Promise<ServerContainer> {
  const variables = Object.entries(passwords).map(([user, own]) => [`NATS_PASSWORD_${user.toUpperCase()}`, own])
  const { GenericContainer, Wait } = await engine()
  const container = await new GenericContainer(imageIn('k8s/base/nats.yaml', 'nats'))
    .withEnvironment(Object.fromEntries(variables))
    .withCopyDirectoriesToContainer([{ source: `${deployFolder}nats`, target: '/etc/backoffice-nats' }])
    .withCommand(['--config', '/etc/backoffice-nats/single.conf'])
    .withExposedPorts(port === undefined ? 4222 : { container: 4222, host: port })
    .withWaitStrategy(Wait.forLogMessage(/Server is ready/))
    .withStartupTimeout(startupTimeoutMs)
    .start()
  return running(container, `nats://${addressOf(container, 4222)}`)
}

/** Loaded late: it is large, and few tests run on containers. */
async function engine() {
  const testcontainers = await import('testcontainers')
  await testcontainers.getContainerRuntimeClient().catch((cause) => {
    throw new Error('BACKENDS=containers takes a Docker engine, and none answers', { cause })
  })
  return testcontainers
}

/** The version of production, with its digest once the images are pinned. */
function imageIn(manifest: string, name: string): string {
  const [, image] = new RegExp(`image: (${name}:\\S+)`).exec(readFileSync(`${deployFolder}${manifest}`, 'utf8')) ?? []
  if (image === undefined) throw new Error(`deploy/${manifest} names no image of ${name}`)
  return image
}

const addressOf = (container: StartedTestContainer, port: number) =>
  `${container.getHost()}:${container.getMappedPort(port)}`

function running(container: StartedTestContainer, url: string): ServerContainer {
  return {
    url,
    async crash() {
      const { container: containers } = await (await engine()).getContainerRuntimeClient()
      await containers.getById(container.getId()).kill()
      await container.restart()
    },
    stop: async () => void (await container.stop()),
  }
}
