// proof: money moves behind a real PgBouncer, which only an installation of the small size may have.

import { type ServiceName, serviceNames } from '@backoffice/contracts'
import { limitsMs, loadConfig } from '@backoffice/process'
import { readerOf } from '@backoffice/service-runtime'
import { type RunningService, type Service, startService } from '@backoffice/service-runtime/testing'
import { OperatorClient, reconcile, testBed } from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'
import { expectStatus, fund, register } from '../journey.ts'
import { newOperator, statementAgrees } from '../rollout/operators.ts'
import { services } from '../services.ts'
import { pgBouncerIsMissing, startPgBouncer } from './pgbouncer.ts'

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
        t.same(rows, [
          {
            search_path: service,
            statement_timeout: limitsMs.statement,
            idle_in_transaction_session_timeout: limitsMs.idleTransaction,
            timezone: 'UTC',
            default_transaction_read_only: readOnly,
          },
        ])
        if (readOnly === 'on') await t.rejects(connection.query('delete from inbox'), { code: '25006' }, service)
        await connection.end()
      }
    }
  })
})
