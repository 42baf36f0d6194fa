import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brokerUsers, databaseRoles, serviceNames, streamKeeper } from '@backoffice/contracts'
import { freePort, type ProgramName, roleUrl, startNats, startThrowAwayPostgres } from '@backoffice/dev-stack'
import type { Teardown } from '@backoffice/test-kit'

const makeMachine = fileURLToPath(new URL('../../deploy/docker/make-machine.sh', import.meta.url))
const random = () => randomBytes(12).toString('hex')

export interface Settings {
  readonly baseUrl: string
  readonly healthPorts: Readonly<Record<ProgramName, number>>
  readonly gamesPort: number
  readonly consoleUrl: string
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
  const natsPasswords = each(brokerUsers, random)
  const consolePasswordFile = join(folder, 'console-password')
  writeFileSync(consolePasswordFile, `${natsPasswords.console}\n`)
  const [machines, machineKey] = [join(folder, 'machines.json'), join(folder, 'machine-key.json')]
  writeFileSync(machines, execFileSync('sh', [makeMachine, 'first-machine', machineKey, 'integration']))
  // Whoever runs the command line's image has its own key. Here the image's user does.
  chmodSync(machineKey, 0o644)
  const [postgres, nats] = await Promise.all([
    startThrowAwayPostgres(join(folder, 'postgres')),
    startNats({ dir: join(folder, 'nats'), passwords: natsPasswords }),
  ])
  t.teardown(() => Promise.all([postgres.child.stop(), nats.child.stop()]))

  const rolePasswords = each(databaseRoles, random)
  const healthPorts = await freePorts()
  const [port, gamesPort, consolePort, metricsPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ]
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
    reconciler: {
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
    console: {
      NATS_PASSWORD: '',
      NATS_PASSWORD_FILE: consolePasswordFile,
      CONSOLE_PORT: String(consolePort),
      CONSOLE_URL: 'https://console.example.com',
      CONSOLE_CLIENT_SECRET: random(),
      CONSOLE_SESSION_KEYS: randomBytes(32).toString('base64'),
    },
  }
  const database = (program: ProgramName) =>
    program === 'console' ? {} : { DATABASE_URL: roleUrl(postgres.url, program, rolePasswords[program]) }
  const messages = (program: ProgramName) =>
    program === 'games'
      ? {}
      : { NATS_URL: nats.url, NATS_USER: program, NATS_PASSWORD: natsPasswords[program], ...team }
  const team = { TEAM_ISSUER: 'https://login.example.com', TEAM_MACHINES_FILE: machines }
  return {
    baseUrl: `http://127.0.0.1:${port}/api/v1`,
    healthPorts,
    gamesPort,
    consoleUrl: `http://127.0.0.1:${consolePort}`,
    metricsPort,
    of: (program) => ({
      ...database(program),
      ...messages(program),
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
    team: {
      TEAM_CONSOLE_URL: `http://127.0.0.1:${consolePort}`,
      TEAM_MACHINE_NAME: 'first-machine',
      TEAM_MACHINE_KEY_FILE: machineKey,
    },
  }
}

const each = <Name extends string, T>(names: readonly Name[], make: () => T) =>
  Object.fromEntries(names.map((name) => [name, make()])) as Record<Name, T>

async function freePorts(): Promise<Record<ProgramName, number>> {
  const ports = each<ProgramName, number>([...serviceNames, 'games', 'console'], () => 0)
  for (const name of Object.keys(ports) as ProgramName[]) ports[name] = await freePort()
  return ports
}
