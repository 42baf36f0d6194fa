import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkedSettings, settings as console } from '@backoffice/console'
import { serviceNames } from '@backoffice/contracts'
import { settings as games } from '@backoffice/games'
import { gateway } from '@backoffice/gateway'
import { isSetting } from '@backoffice/local-stack'
import { migratorConfig, streamConfig } from '@backoffice/migrator'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { loadConfig } from '@backoffice/process'
import { reconciler } from '@backoffice/reconciler'
import {
  identityOf,
  identitySettings,
  importSessionKey,
  MachineSigner,
  TeamVerifier,
} from '@backoffice/team-access/identity'
import { temporaryFolder } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import { webhooks } from '@backoffice/webhooks'
import { Type } from '@sinclair/typebox'
import ipaddr from 'ipaddr.js'
import t from 'tap'
import { parse } from 'yaml'

// biome-ignore lint/suspicious/noExplicitAny: what the file says is what the tests are about
type Manifest = any

const folder = fileURLToPath(new URL('../../deploy/docker/', import.meta.url))
const { services, networks } = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'), { merge: true })
const script = join(folder, 'make-env.sh')
const dir = temporaryFolder(t)
let files = 0
/** The text of a new file of secrets. */
function makeEnv(): string {
  files += 1
  const file = join(dir, `env-${files}`)
  execFileSync('sh', [script, file])
  return readFileSync(file, 'utf8')
}

const variables = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]))

/** As compose does it, and no more of it than the file uses. */
function substitute(text: string, given: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{([A-Z_]+)(:\?|:-|-)?([^}]*)\}/g, (_, name, operator, otherwise) => {
    const value = given[name]
    if (value === undefined && (operator === undefined || operator === ':?')) throw new Error(`${name} is not set`)
    return value ?? otherwise
  })
}

const identityDefaults = loadConfig(Type.Object(identitySettings), {})

const configurations = {
  gateway: gateway.configuration,
  players: players.configuration,
  wallet: wallet.configuration,
  reconciler: reconciler.configuration,
  payments: payments.configuration,
  webhooks: webhooks.configuration,
  games,
  console,
  migrate: migratorConfig,
  streams: streamConfig,
}

t.test('each program has all settings that it needs, and none that it does not know', async (t) => {
  const given = variables(makeEnv())
  for (const [name, schema] of Object.entries(configurations)) {
    const environment = Object.fromEntries(
      Object.entries<string>(services[name].environment).map(([key, value]) => [key, substitute(value, given)]),
    )
    t.same(
      Object.keys(environment).filter((key) => !(key in schema.properties)),
      [],
      name,
    )
    const isService = 'DEVELOPMENT' in schema.properties
    t.match(loadConfig(schema, environment), isService ? { DEVELOPMENT: false } : {})
    if (name === 'console') t.ok(checkedSettings(loadConfig(console, environment)))
  }
  for (const name of ['postgres', 'nats', 'team']) {
    for (const value of Object.values<string>(services[name].environment)) t.ok(substitute(value, given) !== '')
  }
})

t.test('a first machine can act before anybody can log in: its key is made too, for its owner alone', async (t) => {
  const copy = join(dir, 'docker')
  cpSync(folder, copy, { recursive: true, filter: (path) => !/\/(\.env|machines?(-key)?\.json)$/.test(path) })
  execFileSync('sh', [join(copy, 'make-env.sh')], { stdio: 'pipe' })
  const [keyFile, list] = [join(copy, 'machine-key.json'), join(copy, 'machines.json')]
  t.equal(statSync(keyFile).mode & 0o777, 0o600)
  t.equal(statSync(list).mode & 0o777, 0o644, 'containers have another user')
  const text = readFileSync(list, 'utf8')
  t.notMatch(text, JSON.parse(readFileSync(keyFile, 'utf8')).d, 'what is public has no private key')

  const { TEAM_MACHINE_NAME: name } = services.team.environment
  const deployment = 'https://console.example.com'
  const { privateKey } = await importSessionKey(JSON.parse(readFileSync(keyFile, 'utf8')))
  const verifier = new TeamVerifier(
    identityOf({ ...identityDefaults, TEAM_DEPLOYMENT: deployment, TEAM_MACHINES_FILE: list }),
  )
  const call = { operation: 'gateway.createOperator', operationId: 'opn_1', input: {} }
  const caller = await verifier.verify(
    call,
    await new MachineSigner({ name, privateKey, deployment }).sign(call),
    new Date(),
  )
  t.match(caller, { kind: 'machine', name, roles: new Set(['integration']) })
  for (const script of ['make-env.sh', 'make-machine.sh'])
    t.not(
      spawnSync('sh', [join(copy, script), ...(script === 'make-env.sh' ? [] : [name, keyFile, 'finance'])]).status,
      0,
    )
  t.equal(readFileSync(list, 'utf8'), text, 'and neither is replaced')
})

t.test('a file of secrets that is there is never replaced, and nobody else can read a new one', async (t) => {
  const file = join(dir, 'once')
  execFileSync('sh', [script, file], { stdio: 'pipe' })
  t.equal(statSync(file).mode & 0o777, 0o600)
  const text = readFileSync(file, 'utf8')
  const again = spawnSync('sh', [script, file], { encoding: 'utf8' })
  t.equal(again.status, 1)
  t.match(again.stderr, /nothing is changed/)
  t.equal(readFileSync(file, 'utf8'), text)
  t.same(
    readdirSync(dir).filter((name) => name.startsWith('once.')),
    [],
    'and nothing is left beside it',
  )
})

t.test('everything is confined, has a bound on its memory, and keeps a bounded log', async (t) => {
  for (const [name, service] of Object.entries<Manifest>(services)) {
    t.match(service, { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] }, name)
    t.match(service.mem_limit, /^\d+[mg]$/, name)
    t.ok(service.pids_limit > 0, name)
    if (name === 'postgres') t.equal(service.shm_size, '256m', 'parallel queries share more than 64 MiB')
    t.match(service.logging, { driver: 'json-file', options: { 'max-size': /^\d+m$/, 'max-file': /^\d$/ } }, name)
  }
  t.equal(services.postgres.user, 'postgres')
  // Its volume is handed over to it first, by the one container that may.
  t.match(services.nats, { user: '10002:10002', depends_on: { 'nats-volume': {} } })
  t.same(services['nats-volume'].entrypoint.slice(0, 3), ['chown', '-R', services.nats.user])
  t.equal(services['nats-volume'].network_mode, 'none')
})

t.test('ports are published on this machine alone, and what comes through them is believed as a proxy', async (t) => {
  const published = Object.values<Manifest>(services).flatMap(({ ports = [] }) => ports as string[])
  t.same(
    published.map((port) => substitute(port, {})),
    ['127.0.0.1:8080:8080', '127.0.0.1:8084:8084', '127.0.0.1:8082:8082', '127.0.0.1:8083:8083'],
  )
  t.equal(substitute(published[0] ?? '', { BIND_ADDRESS: '0.0.0.0' }), '0.0.0.0:8080:8080')
  const [{ subnet, gateway: address }] = networks.default.ipam.config
  const inside = ipaddr.parse(substitute(address, {})).match(ipaddr.parseCIDR(substitute(subnet, {})))
  t.ok(inside, 'the network has that gateway')
  const given = variables(makeEnv())
  for (const name of ['gateway', 'games', 'console'])
    t.equal(substitute(services[name].environment.TRUSTED_PROXIES, given), substitute(address, given), name)
})

t.test('a setting of a program may enter a container of the tests, and no password of others', async (t) => {
  const { migrate: _migrate, streams: _streams, ...programs } = configurations
  for (const [name, schema] of Object.entries(programs))
    t.same(
      Object.keys(schema.properties).filter((setting) => !isSetting(setting)),
      [],
      name,
    )
  const given = Object.keys(variables(makeEnv())).filter((name) => /^(POSTGRES|DATABASE|NATS)_PASSWORD/.test(name))
  t.same(given.filter(isSetting), [])
})

t.test('every secret is generated, differs from the others, and is another one the next time', async (t) => {
  const secrets = Object.entries(variables(makeEnv())).filter(([name]) => /PASSWORD|KEYS|SECRET/.test(name))
  t.equal(new Set(secrets.map(([, value]) => value)).size, secrets.length)
  const next = variables(makeEnv())
  for (const [name, value] of secrets) {
    t.match(value, /^(p[0-9a-f]{36}|(first:)?[A-Za-z0-9+/]{43}=)$/, name)
    t.not(next[name], value)
  }
})

t.test('what has a database is a target of the Dockerfile, and waits for its migrations', async (t) => {
  for (const name of [...serviceNames, 'games']) {
    const { build, depends_on } = services[name]
    t.equal(build.target, name)
    t.match(depends_on, { migrate: { condition: 'service_completed_successfully' } })
  }
})
