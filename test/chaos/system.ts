import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrokerUser, brokerUsers, serviceNames, streamBytesMin, teamConsole } from '@backoffice/contracts'
import { databaseUrl, roleUrl, sharedRolePasswords, withOtherRoles } from '@backoffice/dev-stack'
import { prepareDatabases } from '@backoffice/migrator'
import { StreamKeeper } from '@backoffice/migrator/stream'
import { createLogger } from '@backoffice/process'
import { connectNats, RpcClient } from '@backoffice/rpc'
import { freePort, lookingFirst, type TeamClient, type Teardown, TestIssuer } from '@backoffice/test-kit'
import pg from 'pg'
import { NatsPart, PostgresPart } from './backends.ts'
import { Link } from './link.ts'
import { Replica } from './replica.ts'

const passwordOf = (user: string) => `password-of-${user}`

/** As much of a system as the oracle needs. Its services may also run in this process. */
export type Judged = Pick<ChaosSystem, 'sql' | 'team' | 'replicas'>

/** PostgreSQL, nats-server and two processes of each service, each with connections of its own to its backends. */
export interface ChaosSystem {
  readonly postgres: PostgresPart
  readonly nats: NatsPart
  readonly replicas: readonly Replica[]
  /** Addresses of the API, one for each gateway. */
  readonly baseUrls: readonly string[]
  /** Of the superuser. */
  readonly sql: pg.Pool
  /** The team's operations, called by one of its people. */
  readonly team: TeamClient
}

export async function startChaosSystem(t: Teardown): Promise<ChaosSystem> {
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-chaos-'))
  // PostgreSQL runs as somebody else.
  chmodSync(dir, 0o755)
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const issuer = new TestIssuer()
  t.teardown(() => issuer.remove())
  const logs = join(dir, 'services')
  mkdirSync(logs)

  const [postgresPort, natsPort] = [await freePort(), await freePort()]
  const [postgres, nats] = await Promise.all([
    PostgresPart.start({
      dir: join(dir, 'postgres'),
      port: postgresPort,
      password: passwordOf('postgres'),
      // Its processes are killed, never the machine.
      durable: 'process',
    }),
    NatsPart.start({
      dir: join(dir, 'nats'),
      port: natsPort,
      passwords: Object.fromEntries(brokerUsers.map((name) => [name, passwordOf(name)])) as Record<BrokerUser, string>,
    }),
  ])
  t.teardown(() => nats.stop())
  t.teardown(() => postgres.stop())
  const keeper = await StreamKeeper.start(
    { NATS_URL: nats.url, NATS_PASSWORD: passwordOf('streams') },
    { replicas: 1, bytesMax: streamBytesMin },
    createLogger('streams', 'silent'),
  )
  t.teardown(() => keeper.stop())
  const administratorUrl = await makeDatabase(postgres.url)
  const passwords = sharedRolePasswords(postgres.url)
  await prepareDatabases([{ url: administratorUrl, services: serviceNames }], withOtherRoles(passwords))

  const links: Link[] = []
  t.teardown(() => Promise.all(links.map((link) => link.close())))
  const openLink = async (port: number) => {
    const link = await Link.open(port)
    links.push(link)
    return link
  }
  const baseUrls: string[] = []
  const replicas: Replica[] = []
  for (const service of serviceNames) {
    for (const name of [`${service}-1`, `${service}-2`]) {
      const [toPostgres, toNats] = [await openLink(postgresPort), await openLink(natsPort)]
      const httpPort = await freePort()
      const fromClients = service === 'gateway' ? [await openLink(httpPort)] : []
      for (const { port } of fromClients) baseUrls.push(`http://127.0.0.1:${port}/api/v1`)
      const throughLink = onPort(administratorUrl, toPostgres.port)
      replicas.push(
        new Replica({
          name,
          service,
          dir: logs,
          healthPort: await freePort(),
          links: [toPostgres, toNats, ...fromClients],
          environment: {
            ...settings,
            ...issuer.settings,
            DATABASE_URL: roleUrl(throughLink, service, passwords[service]),
            NATS_URL: `nats://127.0.0.1:${toNats.port}`,
            NATS_USER: service,
            NATS_PASSWORD: passwordOf(service),
            PORT: String(httpPort),
          },
        }),
      )
    }
  }
  t.teardown(() => Promise.all(replicas.map((replica) => replica.stop())))
  await Promise.all(replicas.map((replica) => replica.start()))
  await Promise.all(replicas.map((replica) => replica.untilReady()))

  const sql = new pg.Pool({ connectionString: administratorUrl, max: 2 })
  // A connection that ends with PostgreSQL is replaced by the next query.
  sql.on('error', () => {})
  t.teardown(() => sql.end())
  const login = { NATS_URL: nats.url, NATS_USER: teamConsole, NATS_PASSWORD: passwordOf(teamConsole) }
  const connection = await connectNats(login, { name: teamConsole })
  t.teardown(() => connection.close())
  const team = lookingFirst(new RpcClient(connection, issuer.signer('alice')))
  return { postgres, nats, replicas, baseUrls, sql, team }
}

/** Leases and sweeps that a person would wait for are as short as the longest call allows. */
export const shortWaits = {
  CLAIM_LEASE_MS: '9000',
  INTENT_ABANDON_AFTER_MS: '10000',
  INTENT_SWEEP_EVERY_MS: '1000',
  WEBHOOK_BACKOFF_BASE_MS: '50',
}
const settings = {
  ...shortWaits,
  DEVELOPMENT: 'true',
  LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn',
  DATABASE_POOL_MAX: '5',
  HOST: '127.0.0.1',
}

async function makeDatabase(administratorUrl: string): Promise<string> {
  const name = 'backoffice'
  const client = new pg.Client({ connectionString: administratorUrl })
  await client.connect()
  try {
    await client.query(`create database ${name}`)
  } finally {
    await client.end()
  }
  return databaseUrl(administratorUrl, name)
}

function onPort(url: string, port: number): string {
  const changed = new URL(url)
  changed.port = String(port)
  return changed.href
}
