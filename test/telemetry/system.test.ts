// proof: a whole system and Prometheus, until every metric was seen.

import { join } from 'node:path'
import { serviceNames } from '@backoffice/contracts'
import type { ProgramName } from '@backoffice/local-stack'
import { eventually, reconcile, shortPatience, skipWithout, startSystem } from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'
import { alerts, dashboardQueries, idOf, metricNames, rules, telemetryFolder } from './rules.ts'
import {
  moneyPath,
  operatorWithReceiver,
  type Prometheus,
  pendingDeposit,
  person,
  publishNonsense,
  refusedToTheTeam,
  startPrometheus,
  troubles,
} from './traffic.ts'

const programs: readonly ProgramName[] = [...serviceNames, 'games', 'console']
/** Of those without an outbox. */
const ownMetric: Partial<Record<ProgramName, string>> = {
  games: 'backoffice_games_request',
  console: 'backoffice_console_request',
}
/** Panels of PostgreSQL, NATS and volumes read exporters that only a cluster has. */
const ours = dashboardQueries().filter(({ expr }) => !/\b(?:cnpg|nats|kubelet|barman_cloud)_/.test(expr))

t.test(
  'what the services export is what rules and panels ask for',
  { skip: skipWithout('prometheus', 'prometheus') },
  async (t) => {
    const environment = {
      ...shortPatience,
      ...{ OTEL_METRICS_EXPORTER: 'prometheus', WEBHOOK_BACKOFF_BASE_MS: '100' },
      HEADS_EXPORT_DIR: join(t.testdir(), 'heads'),
    }
    const system = await startSystem(t, { services: 'processes', environment })
    const targets = system.metrics as Readonly<Record<ProgramName, string>>
    t.same(Object.keys(targets).sort(), [...programs].sort(), 'everything has its metrics')
    const prometheus = await startPrometheus(t, targets, `${telemetryFolder}alerts.yaml`)

    const shows = (expr: string, something = true) =>
      eventually(async () => (await prometheus.query(expr)).length > 0 === something)
    const value = (expr: string) => oneValue(prometheus, expr)

    const well = await operatorWithReceiver(t, system, 204)
    const failing = await operatorWithReceiver(t, system, 500)
    // Counters are first seen at their first value: what happens again after that is what a rate shows.
    for (let round = 1; round <= 2; round += 1) {
      const { playerId } = await moneyPath(well)
      await moneyPath(failing)
      await troubles(well, playerId)
      await publishNonsense(system)
      await reconcile(await system.asTeam('alice'))
      await refusedToTheTeam(system)
      await eventually(
        async () =>
          (await value('sum(backoffice_messages_set_aside_total)')) >= round &&
          (await value('sum(backoffice_idempotency_replays_total)')) >= round &&
          (await value('sum(backoffice_team_refused_calls_total{code="ROLE_REQUIRED"})')) >= round,
      )
    }

    // Only from half of a quota on is it shown, and no traffic of a test comes there.
    const database = new pg.Client({ connectionString: system.postgresUrl })
    await database.connect()
    await database.query('update gateway.daily_use set bytes = 600 * 1024 * 1024')
    await database.end()

    await t.test('everything is scraped, under its own name', async (t) => {
      const up = await eventually(async () => {
        const series = await prometheus.query('job:up:count')
        return series.length === programs.length && series
      })
      t.same(up.map(({ metric }) => metric.job).sort(), [...programs].sort())
      const named = await prometheus.query('target_info')
      for (const { metric } of named) t.equal(metric.service_name, metric.job)
    })

    await t.test('traffic is counted as what it was', async (t) => {
      const requests = (labels: string) => `sum(backoffice_request_duration_seconds_count{${labels}})`
      const expected: readonly (readonly [string, number])[] = [
        [requests('operation="confirmDeposit", code="ok", environment="sandbox"'), 4],
        [requests('operation="requestWithdrawal", code="ok"'), 8],
        [requests('operation="requestWithdrawal", code="INSUFFICIENT_FUNDS"'), 2],
        [requests('code="INVALID_SIGNATURE"'), 2],
        ['sum(backoffice_authentication_refusals_total{code="INVALID_SIGNATURE", operator!="none"})', 2],
        ['sum(backoffice_authentication_limited_addresses)', 0],
        [requests('code="IDEMPOTENCY_CONFLICT"'), 2],
        [requests('code="PROVIDER_UNAVAILABLE"'), 2],
        ['sum(backoffice_idempotency_replays_total{operation="createDeposit"})', 2],
        ['sum(backoffice_messages_set_aside_total)', 2],
        ['sum(backoffice_rpc_duration_seconds_count{service="payments", operation="confirmDeposit", code="ok"})', 4],
        ['max(backoffice_ledger_differences{class="money"})', 0],
        ['max(backoffice_provider_breaker_open)', 0],
      ]
      for (const [expr, wanted] of expected) {
        t.ok(await eventually(async () => (await value(expr)) === wanted), expr)
      }
      // The failing receiver's breaker opens after five failures in a row; the other's stays closed.
      await t.resolves(
        eventually(
          async () =>
            (await value('sum(max by (breaker) (backoffice_webhook_endpoints{breaker=~"open|half_open"}))')) === 1 &&
            (await value('sum(backoffice_webhook_endpoints{breaker="closed"})')) >= 1,
        ),
      )
      for (const outcome of ['delivered', 'failed'])
        t.ok((await value(`sum(backoffice_delivery_attempt_duration_seconds_count{outcome="${outcome}"})`)) > 0)
    })

    await t.test('the pools of a service are told apart, and nobody else counts them', async (t) => {
      const pools = (job: string) => `max by (db_client_connection_pool_name) (db_client_connection_max{job="${job}"})`
      const bounds = async (job: string) =>
        Object.fromEntries(
          (await prometheus.query(pools(job))).map(({ metric, value }) => [
            metric.db_client_connection_pool_name,
            Number(value[1]),
          ]),
        )
      t.same(await bounds('payments'), { write: 10, read: 3, team: 2 })
      t.same(Object.keys(await bounds('games')), ['write'])
      const counted = await prometheus.query('group by (db_client_connection_pool_name) (db_client_connection_count)')
      t.same(counted.map(({ metric }) => metric.db_client_connection_pool_name).sort(), ['read', 'team', 'write'])
    })

    await t.test('every metric in a rule or a panel is exported', async (t) => {
      await shows('backoffice_quota_used_ratio')
      const exported = await prometheus.metricNames()
      const recorded = new Set(rules('alerts.yaml').flatMap(({ record }) => record ?? []))
      const asked = new Set([...rules('alerts.yaml'), ...ours].flatMap(({ expr }) => [...metricNames(expr)]))
      t.ok(asked.size > 20)
      t.same(
        [...asked].filter((name) => !recorded.has(name) && !exported.has(name)),
        [],
      )
    })

    await t.test('every query of the dashboard shows something', async (t) => {
      for (const { panel, expr } of ours) await t.resolves(shows(expr), `${panel}: ${expr}`)
    })

    await t.test('Prometheus evaluates every rule', async (t) => {
      for (const { expr } of rules()) await t.resolves(prometheus.query(expr), expr)
      const expected = rules('alerts.yaml')
        .map(({ alert, record }) => alert ?? record)
        .sort()
      const loaded = await prometheus.rules()
      t.same(loaded.map(({ name }) => name).sort(), expected)
      // A group of long windows has its first turn later.
      t.same(
        loaded.filter(({ health }) => health === 'err'),
        [],
      )
    })

    await t.test('a system that is well wakes nobody', async (t) => {
      // A single replica each, and what this test asked for.
      const expected = new Set([
        'ReplicaMissing/scrape',
        'MessageSetAside',
        'OperatorStoresMuch',
        'SandboxFailing/sandbox-requests',
        'RequestsFailing/budget-3d',
      ])
      // How fast requests are depends on what else this machine does.
      const judged = alerts('alerts.yaml').filter((rule) => !expected.has(idOf(rule)) && rule.alert !== 'RequestsSlow')
      for (const rule of judged) t.same(await prometheus.query(rule.expr), [], idOf(rule))
    })

    await t.test('while the wallet does not answer the rules about money see it, and afterwards nothing', async (t) => {
      const { playerId } = await moneyPath(well)
      const deposit = await pendingDeposit(well, playerId)
      const wallet = system.pid('wallet')
      const seen = [
        'absent(job:up:count{job="wallet"})',
        'backoffice_outbox_oldest_unsent_seconds{service="payments", kind="command"} > 2',
        'backoffice_outbox_unsent_rows{service="payments", kind="command"} == 1',
        'backoffice_money_operations_oldest_unfinished_seconds > 2',
        'environment_code:requests:rate5m{code="SERVICE_UNAVAILABLE", environment="sandbox"}',
        'backoffice_rpc_duration_seconds_count{service="payments", environment="sandbox"}',
      ]
      process.kill(wallet, 'SIGSTOP')
      try {
        t.equal(await deposit.confirm(), 503)
        for (const expr of seen) await t.resolves(shows(expr), expr)
      } finally {
        process.kill(wallet, 'SIGCONT')
      }
      await eventually(async () => (await deposit.confirm()) === 200)
      for (const expr of seen.slice(0, -2)) await t.resolves(shows(expr, false), `no more: ${expr}`)
    })

    await t.test('no metric names a person, a player or a secret', async (t) => {
      const secret = system.operators[0]?.sandbox.secret ?? ''
      const forbidden = [...Object.values(person), '52998224725', 'Benedita', 'ply_', 'dep_', 'wdr_', secret]
      for (const [service, address] of Object.entries(targets)) {
        const own = ownMetric[service as ProgramName] ?? 'backoffice_outbox_unsent_rows'
        // What could not be read for a scrape is there in a later one.
        const text = await eventually(async () => {
          const text = await (await fetch(address)).text()
          return text.includes(own) && text
        })
        t.same(
          forbidden.filter((value) => text.includes(value)),
          [],
          service,
        )
      }
    })
  },
)

/** The value of a query that answers one series; NaN where it answers none. */
async function oneValue(prometheus: Prometheus, expr: string): Promise<number> {
  return Number((await prometheus.query(expr))[0]?.value[1] ?? Number.NaN)
}
