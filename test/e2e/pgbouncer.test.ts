// proof: money moves behind a real PgBouncer, which only an installation of the small size may have.

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ServiceName, serviceNames } from '@backoffice/contracts'
import { freePort } from '@backoffice/local-stack'
import { loadConfig } from '@backoffice/process'
import { readerOf } from '@backoffice/service-runtime'
import { type RunningService, type Service, startService } from '@backoffice/service-runtime/testing'
import {
  OperatorClient,
  reconcile,
  skipWithout,
  startProcess,
  type Teardown,
  temporaryFolder,
  testBed,
  toolPath,
  unlessRequired,
} from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'
import { expectStatus, fund, register } from '../journey.ts'
import { newOperator, statementAgrees } from '../rollout/fleet.ts'
import { services } from '../services.ts'

const env = { ...process.env, PATH: toolPath }
/** The first that knows prepared statements in transaction mode. */
const versionMin = 21

/** Why PgBouncer cannot be had, or false. */
function pgBouncerIsMissing(): string | false {
  const missing = skipWithout('pgbouncer', 'pgbouncer')
  if (missing !== false) return missing
  const [, minor] = /PgBouncer 1\.(\d+)/.exec(execFileSync('pgbouncer', ['--version'], { encoding: 'utf8', env })) ?? []
  return unlessRequired(Number(minor) < versionMin && `PgBouncer 1.${minor} is older than 1.${versionMin}`)
}

/** A login of PostgreSQL, as its URL says it. */
const loginOf = (url: string) => {
  const { username, password } = new URL(url)
  return [decodeURIComponent(username), decodeURIComponent(password)]
}

/**
 * Runs PgBouncer in transaction mode until the test ends, with fewer connections than a service wants.
 * @param logins URLs of those who may connect
 * @returns how a URL of PostgreSQL reads when it leads through PgBouncer
 */
async function startPgBouncer(t: Teardown, logins: readonly string[]): Promise<(url: string) => string> {
  const [first = ''] = logins
  const { hostname, port } = new URL(first)
  const listenPort = await freePort()
  const dir = temporaryFolder(t)
  // It refuses to run as root.
  const isRoot = process.getuid?.() === 0
  writeFileSync(
    join(dir, 'users.txt'),
    logins
      .map(
        (url) =>
          `${loginOf(url)
            .map((text) => JSON.stringify(text))
            .join(' ')}\n`,
      )
      .join(''),
  )
  writeFileSync(
    join(dir, 'pgbouncer.ini'),
    `[databases]
* = host=${hostname} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${dir}/users.txt
pool_mode = transaction
max_prepared_statements = 200
default_pool_size = 2
max_client_conn = 500
${isRoot ? 'user = nobody' : ''}
`,
  )
  const { until } = startProcess(t, ['pgbouncer', join(dir, 'pgbouncer.ini')], { env })
  const through = (url: string) => {
    const changed = new URL(url)
    changed.host = `127.0.0.1:${listenPort}`
    return changed.href
  }
  await until(() => {
    const client = new pg.Client({ connectionString: through(first) })
    return client.connect().then(
      () => client.end().then(() => true),
      () => false,
    )
  })
  return through
}

const playersAtOnce = 12

t.test('behind PgBouncer in transaction mode', { skip: pgBouncerIsMissing() }, async (t) => {
  const bed = await testBed(t, services, { startServices: false })
  const urlOf = (service: ServiceName) => bed.environment(service).DATABASE_URL ?? ''
  const readingUrlOf = (service: ServiceName) => {
    const url = new URL(urlOf(service))
    url.username = readerOf(url.username)
    return url.href
  }
  const urls = serviceNames.flatMap((service) => [urlOf(service), readingUrlOf(service)])
  const through = await startPgBouncer(t, urls)

  const running = {} as Record<ServiceName, RunningService<{ readonly baseUrl: string }>>
  t.teardown(() => Promise.all(Object.values(running).map((service) => service.drain())))
  for (const name of serviceNames) {
    const environment = {
      ...bed.environment(name),
      DATABASE_URL: through(urlOf(name)),
      DATABASE_POOL_MAX: '10',
      SCHEMA_WAIT_MS: '0',
    }
    // Each has types of its own for its settings and addresses.
    const service = services[name] as unknown as Service
    running[name] = (await startService(service, loadConfig(service.configuration, environment) as never)) as never
  }
  const client = new OperatorClient(running.gateway.addresses.baseUrl, await newOperator({ bed }))
  t.teardown(() => client.close())

  await t.test('money moves, many players at once', async (t) => {
    const playerIds = await Promise.all(
      Array.from({ length: playersAtOnce }, async () => {
        const { id: playerId } = await register(client)
        expectStatus(await client.post(`/sandbox/players/${playerId}/kyc/decision`, { status: 'aprovado' }), 200)
        for (const amount of ['12.50', '7.50']) await fund(client, playerId, amount)
        const body = { amount: '5.00', currency: 'BRL', method: 'pix', destination: 'ana@example.com' }
        const { id } = expectStatus(await client.post(`/players/${playerId}/withdrawals`, body), 201)
        for (const decision of ['approve', 'pay'])
          expectStatus(await client.post(`/sandbox/withdrawals/${id}/decision`, { decision }), 200)
        return playerId
      }),
    )
    for (const playerId of playerIds) {
      t.equal(expectStatus(await client.get(`/players/${playerId}/wallet`), 200).available, '15.00')
      t.ok(await statementAgrees(client, playerId), 'the statement sums to the balance')
    }
    t.equal((await reconcile(bed.team('alice'))).differencesTotal, 0, 'the reconciliation finds nothing')
    const { rows } = await bed.sql('admin').query<{ role: string; connections: number }>(
      `select usename as role, count(*)::int as connections from pg_stat_activity
       where datname = current_database() and usename = 'backoffice_payments' group by 1`,
    )
    t.match(rows, [{ connections: /^[12]$/ }], 'all of them over the two connections of the pool')
  })

  await t.test('the settings of the roles hold', async (t) => {
    const text = `select current_setting('search_path') as search_path, current_setting('timezone') as timezone,
      ${['statement_timeout', 'idle_in_transaction_session_timeout'].map((name) => `extract(epoch from current_setting('${name}')::interval)::float8 * 1000 as ${name}`)},
      current_setting('default_transaction_read_only') as default_transaction_read_only`
    for (const service of serviceNames) {
      for (const [url, readOnly] of [
        [urlOf(service), 'off'],
        [readingUrlOf(service), 'on'],
      ] as const) {
        const connection = new pg.Client({ connectionString: through(url) })
        await connection.connect()
        const { rows } = await connection.query(text)
        t.match(rows, [{ search_path: service, timezone: 'UTC', default_transaction_read_only: readOnly }])
        // How long they are depends on the patience of whoever provisioned the server's roles last.
        t.ok(rows[0].statement_timeout > 0 && rows[0].idle_in_transaction_session_timeout > 0, 'limits are set')
        if (readOnly === 'on') await t.rejects(connection.query('delete from inbox'), { code: '25006' }, service)
        await connection.end()
      }
    }
  })
})
