import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serviceNames } from '@backoffice/contracts'
import { settings as games } from '@backoffice/games'
import { gateway } from '@backoffice/gateway'
import { migratorConfig, streamConfig } from '@backoffice/migrator'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { loadConfig } from '@backoffice/service-runtime/internal'
import { wallet } from '@backoffice/wallet'
import { webhooks } from '@backoffice/webhooks'
import t from 'tap'
import { parse } from 'yaml'
import { readDockerfile } from './dockerfile.ts'

const folder = fileURLToPath(new URL('../../deploy/docker/', import.meta.url))
const { services } = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'), { merge: true })
const makeEnv = () => execFileSync('sh', [join(folder, 'make-env.sh')], { encoding: 'utf8' })

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

const configurations = {
  gateway: gateway.configuration,
  players: players.configuration,
  wallet: wallet.configuration,
  payments: payments.configuration,
  webhooks: webhooks.configuration,
  games,
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
  }
  for (const name of ['postgres', 'nats', 'team']) {
    for (const value of Object.values<string>(services[name].environment)) t.ok(substitute(value, given) !== '')
  }
})

t.test('every secret is generated, differs from the others, and is another one the next time', async (t) => {
  const secrets = Object.entries(variables(makeEnv())).filter(([name]) => /PASSWORD|KEYS/.test(name))
  t.equal(new Set(secrets.map(([, value]) => value)).size, secrets.length)
  const next = variables(makeEnv())
  for (const [name, value] of secrets) {
    t.match(value, /^(p[0-9a-f]{36}|first:[A-Za-z0-9+/]{43}=)$/, name)
    t.not(next[name], value)
  }
})

t.test('each image of ours is a target of the Dockerfile, runs read-only and without capabilities', async (t) => {
  const stages = readDockerfile(join(folder, 'Dockerfile'))
  for (const name of [...serviceNames, 'games', 'migrate', 'team']) {
    const service = services[name]
    t.ok(stages.has(service.build.target), name)
    t.equal(service.build.target, name)
    t.match(service, { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
  }
  for (const name of [...serviceNames, 'games']) {
    t.match(services[name].depends_on, { migrate: { condition: 'service_completed_successfully' } })
    t.match(services[name].healthcheck.test, ['CMD', 'node'])
  }
})

t.test('who calls another stops before it, as far as they do not call each other', async (t) => {
  const permissions = readFileSync(join(folder, '../nats/permissions.conf'), 'utf8')
  for (const [, caller = '', block = ''] of permissions.matchAll(
    /^(\w+)_permissions = \{\n {2}publish: \[(.*?)\]/gms,
  )) {
    for (const called of new Set([...block.matchAll(/"rpc\.(\w+)\./g)].map(([, name = '']) => name))) {
      const ordered = called in services[caller].depends_on || caller in services[called].depends_on
      t.ok(ordered, `${caller} and ${called}`)
    }
  }
})

t.test('tests with containers run on the same PostgreSQL and nats-server', async (t) => {
  const source = readFileSync(join(folder, '../../packages/test-kit/src/containers.ts'), 'utf8')
  for (const name of ['postgres', 'nats']) t.ok(source.includes(`'${substitute(services[name].image, {})}'`), name)
})
