import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type ServiceName, serviceNames, streamKeeper } from '@backoffice/contracts'
import { freePort, serviceUrl, startNats, startThrowAwayPostgres } from '@backoffice/dev-stack'
import type { Teardown } from '@backoffice/test-kit'

const random = () => randomBytes(12).toString('hex')

export interface Settings {
  readonly baseUrl: string
  readonly healthPorts: Readonly<Record<ServiceName, number>>
  /** Of the gateway's, for Prometheus. */
  readonly metricsPort: number
  /** As the manifests give them: nothing here is for development. */
  readonly of: (service: ServiceName) => Record<string, string>
  readonly migrate: Record<string, string>
  readonly team: Record<string, string>
}

/** PostgreSQL and nats-server of its own, empty, and the settings with which the images run on them. */
export async function startBackends(t: Teardown, folder: string, headsFolder: string): Promise<Settings> {
  for (const name of ['postgres', 'nats']) mkdirSync(join(folder, name), { mode: 0o755 })
  const natsPasswords = { ...each(random), [streamKeeper]: random() }
  const alice = random()
  const [postgres, nats] = await Promise.all([
    startThrowAwayPostgres(join(folder, 'postgres')),
    startNats({ dir: join(folder, 'nats'), passwords: natsPasswords, team: { alice } }),
  ])
  t.teardown(() => Promise.all([postgres.child.stop(), nats.child.stop()]))

  const rolePasswords = { ...each(random), reconciler: random() }
  const healthPorts = await eachAsync(freePort)
  const [port, gamesPort, metricsPort] = [await freePort(), await freePort(), await freePort()]
  const masterKeys = `first:${randomBytes(32).toString('base64')}`
  const own: Partial<Record<ServiceName, Record<string, string>>> = {
    gateway: {
      PORT: String(port),
      MASTER_KEYS: masterKeys,
      PUBLIC_BASE_URL: 'https://api.example.com/api/v1',
      TRUSTED_PROXIES: '10.0.0.0/8',
      OTEL_METRICS_EXPORTER: 'prometheus',
      OTEL_EXPORTER_PROMETHEUS_PORT: String(metricsPort),
    },
    webhooks: { MASTER_KEYS: masterKeys },
    wallet: {
      RECONCILE_DATABASE_URL: serviceUrl(postgres.url, 'reconciler', rolePasswords.reconciler),
      HEADS_EXPORT_DIR: headsFolder,
      HEADS_EXPORT_EVERY_MS: '200',
    },
    players: {
      GAMES_BASE_URL: 'https://games.example.com',
      GAMES_PORT: String(gamesPort),
      GAME_PROVIDER_URL: 'https://provider.example.com',
      GAME_PROVIDER_TOKEN: random(),
    },
  }
  return {
    baseUrl: `http://127.0.0.1:${port}/api/v1`,
    healthPorts,
    metricsPort,
    of: (service) => ({
      DATABASE_URL: serviceUrl(postgres.url, service, rolePasswords[service]),
      NATS_URL: nats.url,
      NATS_USER: service,
      NATS_PASSWORD: natsPasswords[service],
      HEALTH_PORT: String(healthPorts[service]),
      ...own[service],
    }),
    migrate: {
      ADMIN_DATABASE_URL: postgres.url,
      NATS_URL: nats.url,
      NATS_PASSWORD: natsPasswords[streamKeeper],
      ...Object.fromEntries(
        Object.entries(rolePasswords).map(([role, word]) => [`DATABASE_PASSWORD_${role.toUpperCase()}`, word]),
      ),
    },
    team: { NATS_URL: nats.url, NATS_USER: 'alice', NATS_PASSWORD: alice },
  }
}

const each = <T>(make: () => T) =>
  Object.fromEntries(serviceNames.map((name) => [name, make()])) as Record<ServiceName, T>

async function eachAsync<T>(make: () => Promise<T>): Promise<Record<ServiceName, T>> {
  const made = each<T | undefined>(() => undefined)
  for (const name of serviceNames) made[name] = await make()
  return made as Record<ServiceName, T>
}
