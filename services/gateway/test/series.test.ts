// proof: sends hundreds of refused requests to count the series of metrics, which a new metric needs.
// In a process of its own: the SDK measures all of it.

import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import t from 'tap'

const taken = createServer().listen(0, '127.0.0.1')
await once(taken, 'listening')
const { port } = taken.address() as AddressInfo
await new Promise((closed) => taken.close(closed))
Object.assign(process.env, {
  OTEL_METRICS_EXPORTER: 'prometheus',
  OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
  OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
})
await import(new URL('../../../packages/process/src/telemetry/register.ts', import.meta.url).href)
// A meter belongs to the provider that was there when its module was loaded.
const { environments, operations } = await import('@backoffice/contracts')
const { eventually, inLanes } = await import('@backoffice/test-kit')
const { gatewayBed } = await import('./bed.ts')
const { send } = await import('./signed-client.ts')

const bed = await gatewayBed(t, { FAILED_AUTHENTICATIONS_PER_MINUTE: 1_000_000 })
const db = bed.sql('gateway')
const { baseUrl } = bed.services.gateway.addresses
const alice = bed.team('alice')
const operators = 500

/** The series of a metric, or of all. */
async function series(name = ''): Promise<readonly string[]> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return text.split('\n').filter((line) => line.startsWith(name) && !line.startsWith('#') && line !== '')
}
const ofOperators = (lines: readonly string[]) => lines.filter((line) => /operator="op_/.test(line))

t.test('however many operators are near their quotas, a replica has a hundred series of them', async (t) => {
  await db.query(
    `insert into operator (id, name, rate_limit_per_minute, allowed_addresses, created_at)
      select 'op_' || n, 'operator ' || n, 60, '{}', now() from generate_series(1, $1) n`,
    [operators],
  )
  await db.query(
    `insert into daily_use (operator_id, environment, day, bytes, rows)
      select 'op_' || n, e, (now() at time zone 'utc')::date, 1e15::bigint + n, 1e12::bigint + n
      from generate_series(1, $1) n, unnest($2::text[]) e`,
    [operators, environments],
  )
  const quotas = await series('backoffice_quota_used_ratio')
  t.equal(quotas.length, 100)
  t.match(quotas.join('\n'), 'operator="op_500"', 'the largest parts are named')
  t.notMatch(quotas.join('\n'), 'operator="op_1"')
})

t.test('a gauge that is no longer read is no longer shown', async (t) => {
  await db.query('update daily_use set bytes = 0, rows = 0')
  t.same(await series('backoffice_quota_used_ratio'), [], 'as after midnight')
})

t.test('who is refused often is named, up to fifty operators', async (t) => {
  const created = await inLanes([...Array(60).keys()], (n) =>
    alice.call(operations.gateway.createOperator, { input: { name: `refused ${n}` } }),
  )
  const refuse = ({ sandbox }: (typeof created)[number]) =>
    send(baseUrl, { ...sandbox, secret: 'sk_wrong' }, { path: '/me' })
  for (const operator of created) await refuse(operator)
  const refusals = () => series('backoffice_authentication_refusals_total')
  t.same(ofOperators(await refusals()), [], 'one refusal each: nobody is named')
  // One after another, since all together might take longer than the minute in which refusals are counted.
  for (const operator of created) await inLanes(Array(11).fill(operator), refuse)
  const named = await eventually(async () => {
    const lines = ofOperators(await refusals())
    return lines.length >= 50 && lines
  })
  t.equal(named.length, 50)
  t.equal((await refusals()).filter((line) => line.includes('operator="other"')).length, 1)
})

t.test('nothing else has series by operator', async (t) => {
  const metrics = ofOperators(await series()).map((line) => line.slice(0, line.indexOf('{')))
  t.same([...new Set(metrics)], ['backoffice_authentication_refusals_total'])
})
