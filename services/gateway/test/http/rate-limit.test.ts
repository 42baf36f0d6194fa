import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { TestTime } from '@backoffice/test-kit'
import t from 'tap'
import { RateLimiter, takeShare } from '../../src/http/limits.ts'
import { gatewayBed } from '../bed.ts'
import { send } from '../signed-client.ts'

// As behind a proxy of ours, so that a test can send from any address.
const settings = { FAILED_AUTHENTICATIONS_PER_MINUTE: 20, TRUSTED_PROXIES: '127.0.0.0/8' }
// Minutes last as long as a test says, in the process and in PostgreSQL.
// Whole ones, whose sums and differences are exact: while time stands still, a minute is no more than 60 seconds.
let nowMs = Math.floor(performance.now())
t.intercept(performance, 'now', { value: () => nowMs })
const bed = await gatewayBed(t, settings, { time: new TestTime() })
await bed.sql('admin').query(`create function test_time.clock_timestamp() returns timestamptz language sql immutable
  as $$ select timestamptz '${new Date().toISOString()}' $$`)
const replicas = [bed.services.gateway.addresses.baseUrl, (await bed.start('gateway')).addresses.baseUrl]
const { createOperator } = operations.gateway

t.test('two replicas together accept no more than the limit, and say when to come back', async (t) => {
  const limit = 40
  const { sandbox, production } = await bed
    .team('alice')
    .call(createOperator, { input: { name: 'Limited', rateLimitPerMinute: limit } })
  const answers = await Promise.all(
    Array.from({ length: 80 }, (_, index) => send(replicas[index % 2] ?? '', sandbox, { path: '/me' })),
  )
  const accepted = answers.filter(({ status }) => status === 200).length
  t.ok(accepted <= limit, `${accepted} accepted`)
  t.ok(accepted >= limit / 2, 'and little of the budget is wasted')
  const refused = answers.find(({ status }) => status === 429)
  t.equal(refused?.json.error.code, 'RATE_LIMITED')
  const retryAfter = Number(refused?.headers['retry-after'])
  t.ok(retryAfter >= 1 && retryAfter <= 60, `Retry-After ${retryAfter}`)
  t.equal(
    (await send(replicas[0] ?? '', production, { path: '/me' })).status,
    200,
    "the sandbox never eats production's budget",
  )
})

t.test('one replica accepts exactly the limit', async (t) => {
  const { sandbox } = await bed.team('alice').call(createOperator, { input: { name: 'Exact', rateLimitPerMinute: 25 } })
  let accepted = 0
  for (let count = 0; count < 30; count++)
    accepted += (await send(replicas[0] ?? '', sandbox, { path: '/me' })).status === 200 ? 1 : 0
  t.equal(accepted, 25)
})

/** Statuses of requests with keys that nobody has. */
async function guess(count: number, addressOf: (index: number) => string): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {}
  for (let index = 0; index < count; index++) {
    const pair = { key: `bk_live_${randomUUID().replaceAll('-', '')}`, secret: 'x' }
    const headers = { 'X-Forwarded-For': addressOf(index) }
    const { status } = await send(replicas[0] ?? '', pair, { path: '/me', headers })
    statuses[status] = (statuses[status] ?? 0) + 1
  }
  return statuses
}

t.test('a correctly signed request is served, however many others from its address guess', async (t) => {
  const { sandbox } = await bed.team('alice').call(createOperator, { input: { name: 'Shared address' } })
  const headers = { 'X-Forwarded-For': '203.0.113.5' }
  t.match(await guess(40, () => '203.0.113.5'), { 401: 20, 429: 20 })
  // Its key has not been used before, so no replica has it in memory.
  t.equal((await send(replicas[0] ?? '', sandbox, { path: '/me', headers })).status, 200)
  const wrong = await send(replicas[0] ?? '', { ...sandbox, secret: 'sk_wrong' }, { path: '/me', headers })
  t.equal(wrong.status, 429, 'a wrong signature is a failure like any other')
  t.equal((await send(replicas[0] ?? '', sandbox, { path: '/me', headers })).status, 200)
})

t.test('the addresses of an IPv6 /64 are one guesser, and another /64 is another', async (t) => {
  const spread = await guess(40, (index) => `2001:db8:0:1::${index.toString(16)}`)
  t.match(spread, { 401: 20, 429: 20 })
  t.match(await guess(1, () => '2001:db8:0:2::1'), { 401: 1 })
})

const { db } = bed.services.gateway
const scope = bed.scope()
const { operatorId, environment } = scope

t.test('a share is spent within its own window, however late it comes', async (t) => {
  const shares = [
    { granted: 5, remainingMs: 30 },
    { granted: 0, remainingMs: 60_000 },
  ]
  // The window was measured when the first share left, and is over when it arrives.
  const slow = async () => {
    nowMs += 50
    return [shares.shift()]
  }
  const limiter = new RateLimiter(slow as never)
  t.ok(((await limiter.admit(scope, 10)) ?? 0) > 0)
  t.same(shares, [])
})

t.test('a window that began in the future, as after a clock was set back, is over', async (t) => {
  const limit = 80
  for (let share = 1; share <= 60; share++) await takeShare(db, { operatorId, environment, limit })
  t.match(await takeShare(db, { operatorId, environment, limit }), { granted: 0 })
  await bed.sql('gateway').query("update rate_window set started_at = now() + interval '1 hour'")
  const { granted, remainingMs } = await takeShare(db, { operatorId, environment, limit })
  t.equal(granted, limit / 8)
  t.ok(remainingMs <= 60_000)
})
