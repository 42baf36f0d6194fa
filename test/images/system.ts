import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseRoles, type ServiceName, serviceNames, streamKeeper } from '@backoffice/contracts'
import { freePort, type ProgramName, roleUrl, startNats, startThrowAwayPostgres } from '@backoffice/dev-stack'
import type { Teardown } from '@backoffice/test-kit'

const random = () => randomBytes(12).toString('hex')

export interface Settings {
  readonly baseUrl: string
  readonly healthPorts: Readonly<Record<ProgramName, number>>
  readonly gamesPort: number
  /** Of the gateway's, for Prometheus. */
  readonly metricsPort: number
  /** As the manifests give them: nothing here is for development. */
  readonly of: (program: ProgramName) => Record<string, string>
  readonly migrate: Record<string, string>
  readonly streams: Record<string, string>
  readonly team: Record<string, string>
}

/** PostgreSQL and nats-server of its own, empty, and the settings with which the images run on them. */
export async function startBackends(t: Teardown, folder: string, headsFolder: string): Promise<Settings> {
  for (const name of ['postgres', 'nats']) mkdirSync(join(folder, name), { mode: 0o755 })
  const natsPasswords = { ...each(serviceNames, random), [streamKeeper]: random() }
  const alice = random()
  const aliceFile = join(folder, 'alice')
  writeFileSync(aliceFile, `${alice}\n`)
  const [postgres, nats] = await Promise.all([
    startThrowAwayPostgres(join(folder, 'postgres')),
    startNats({ dir: join(folder, 'nats'), passwords: natsPasswords, team: { alice } }),
  ])
  t.teardown(() => Promise.all([postgres.child.stop(), nats.child.stop()]))

  const rolePasswords = each(databaseRoles, random)
  const healthPorts = await freePorts()
  const [port, gamesPort, metricsPort] = [await freePort(), await freePort(), await freePort()]
  const masterKeys = `first:${randomBytes(32).toString('base64')}`
  const own: Partial<Record<ProgramName, Record<string, string>>> = {
    gateway: {
      PORT: String(port),
      MASTER_KEYS: masterKeys,
      PUBLIC_BASE_URL: 'https://api.example.com/api/v1',
      TRUSTED_PROXIES: '10.0.0.0/8',
      OTEL_METRICS_EXPORTER: 'prometheus',
      OTEL_EXPORTER_PROMETHEUS_PORT: String(metricsPort),
    },
    payments: { MASTER_KEYS: masterKeys },
    webhooks: { MASTER_KEYS: masterKeys },
    wallet: {
      RECONCILE_DATABASE_URL: roleUrl(postgres.url, 'reconciler', rolePasswords.reconciler),
      HEADS_EXPORT_DIR: headsFolder,
      HEADS_EXPORT_EVERY_MS: '200',
    },
    players: {
      MASTER_KEYS: masterKeys,
      GAMES_BASE_URL: 'https://games.example.com',
      GAME_PROVIDER_URL: 'https://provider.example.com',
      GAME_PROVIDER_TOKEN: random(),
    },
    games: { GAMES_PORT: String(gamesPort), TRUSTED_PROXIES: '10.0.0.0/8' },
  }
  const messages = (service: ServiceName) => ({
    NATS_URL: nats.url,
    NATS_USER: service,
    NATS_PASSWORD: natsPasswords[service],
  })
  return {
    baseUrl: `http://127.0.0.1:${port}/api/v1`,
    healthPorts,
    gamesPort,
    metricsPort,
    of: (program) => ({
      DATABASE_URL: roleUrl(postgres.url, program, rolePasswords[program]),
      ...(program === 'games' ? {} : messages(program)),
      HEALTH_PORT: String(healthPorts[program]),
      ...own[program],
    }),
    migrate: {
      ADMIN_DATABASE_URL: postgres.url,
      NATS_URL: nats.url,
      NATS_PASSWORD: natsPasswords[streamKeeper],
      ...Object.fromEntries(
        Object.entries(rolePasswords).map(([role, word]) => [`DATABASE_PASSWORD_${role.toUpperCase()}`, word]),
      ),
    },
    streams: { NATS_URL: nats.url, NATS_PASSWORD: natsPasswords[streamKeeper] },
    team: { NATS_URL: nats.url, NATS_USER: 'alice', NATS_PASSWORD_FILE: aliceFile },
  }
}

const each = <Name extends string, T>(names: readonly Name[], make: () => T) =>
  Object.fromEntries(names.map((name) => [name, make()])) as Record<Name, T>

async function freePorts(): Promise<Record<ProgramName, number>> {
  const ports = each<ProgramName, number>([...serviceNames, 'games'], () => 0)
  for (const name of Object.keys(ports) as ProgramName[]) ports[name] = await freePort()
  return ports
}
