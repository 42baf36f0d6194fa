import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import type { Db } from '@backoffice/service-runtime'
import { eventually, holdOpen, newPlayer, postgres, refusal } from '@backoffice/test-kit'
import type { FastifyRequest } from 'fastify'
import pg from 'pg'
import t from 'tap'
import { Idempotency } from '../../src/http/idempotency.ts'
import { gatewayBed } from '../bed.ts'
import { type Answer, post } from '../signed-client.ts'

// More than replies that wait may hold.
const bed = await gatewayBed(t, { DATABASE_POOL_MAX: 4 })
const { db, rpc } = bed.services.gateway
const admin = bed.sql('admin')
let statements = 0
const counted: Db = Object.assign(<Row extends object>(text: TemplateStringsArray, ...values: readonly unknown[]) => {
  statements++
  return db<Row>(text, ...values)
}, db)
const idempotency = new Idempotency({ db: counted, rpc, leaseMs: 30_000 })
const claim = async (key: string) => {
  const id = newId('req')
  const request = { id, method: 'POST', raw: { url: '/' }, headers: { 'idempotency-key': key }, body: undefined }
  const claimed = await idempotency.claim(
    operations.payments.createDeposit,
    { scope: bed.scope(), replayProtection: false },
    request as unknown as FastifyRequest,
  )
  if (claimed.is !== 'held') throw new Error('the key was used before')
  return claimed.claim
}
const reply = { status: 201, contentType: 'application/json', body: Buffer.from('{}'), requestId: 'req_1' }

const first = bed.services.gateway.addresses.baseUrl
const second = (await bed.start('gateway')).addresses.baseUrl
const { sandbox } = await bed
  .team('alice')
  .call(operations.gateway.createOperator, { input: { name: 'Once', rateLimitPerMinute: 100_000 } })

t.test('requests that come together share statements: to claim, to store, to give back', async (t) => {
  const claims = await Promise.all(Array.from({ length: 150 }, () => claim(randomUUID())))
  const replies = await Promise.all(claims.slice(0, 100).map((held) => idempotency.storeReply(held, reply)))
  await Promise.all(claims.slice(100).map((held) => idempotency.releaseClaim(held)))
  t.equal(statements, 3)
  t.ok(replies.every((sent) => sent === reply))
})

t.test('no claim waits for replies that cannot be stored yet', async (t) => {
  const claims = await Promise.all(Array.from({ length: 3 }, () => claim(randomUUID())))
  const keys = claims.map(({ key }) => key)
  const { commit } = await holdOpen(admin, 'select from gateway.claim where key = any($1) for update', [keys])
  let stored = 0
  const storing: Promise<unknown>[] = []
  for (const attempt of claims) {
    storing.push(idempotency.storeReply(attempt, reply).then(() => stored++))
    // Each in a batch of its own, as many as may run at once and more.
    await new Promise(setImmediate)
  }
  await Promise.all(Array.from({ length: 50 }, () => claim(randomUUID())))
  t.equal(stored, 0)
  await commit()
  await Promise.all(storing)
})

const register = (body: unknown, key: string, baseUrl = first) => post(baseUrl, sandbox, '/players', body, key)
/** Leaves a claim as it stands when the gateway has died between the effect and the storing of its reply. */
const forgetReply = (key: string, also: string) =>
  admin.query(
    `update gateway.claim set status = null, content_type = null, body = null, request_id = null, ${also} where key = $1`,
    [key],
  )
const expired = "leased_until = null, expires_at = now() - interval '1 second'"
const seen = ({ status, text, headers }: Answer) => ({
  status,
  text,
  requestId: headers['x-request-id'],
  type: headers['content-type'],
})

t.test('an attempt whose key another one holds by now tells no reply of its own', async (t) => {
  const late = await claim(randomUUID())
  await admin.query('update gateway.claim set token = $2 where key = $1', [late.key, randomUUID()])
  t.equal(await refusal(idempotency.storeReply(late, reply)), 'IDEMPOTENCY_IN_PROGRESS')
})

t.test('a replay is the first answer byte for byte, on another replica too', async (t) => {
  const body = newPlayer()
  const key = randomUUID()
  const original = await register(body, key)
  t.equal(original.status, 201)
  t.equal(original.headers['idempotent-replayed'], undefined)
  for (const baseUrl of [first, second]) {
    const replay = await register(body, key, baseUrl)
    t.strictSame(seen(replay), seen(original))
    t.equal(replay.headers['idempotent-replayed'], 'true')
  }
})

t.test('twenty parallel requests over two replicas with one key make one player', async (t) => {
  const body = newPlayer()
  const key = randomUUID()
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => register(body, key, index % 2 === 0 ? first : second)),
  )
  const created = new Set(answers.filter(({ status }) => status === 201).map(({ json }) => json.id))
  t.equal(created.size, 1)
  for (const { status, json } of answers) if (status !== 201) t.equal(json.error.code, 'IDEMPOTENCY_IN_PROGRESS')
  const { rows } = await admin.query('select count(*)::int as players from players.player where external_id = $1', [
    body.externalId,
  ])
  t.equal(rows[0].players, 1)
})

t.test('a refusal is stored under its key, and another body or path under it is a conflict', async (t) => {
  const key = randomUUID()
  const invalid = { ...newPlayer(), email: 'x' }
  const refused = await register(invalid, key)
  t.equal(refused.status, 422)
  t.strictSame(seen(await register(invalid, key)), seen(refused))
  t.equal((await register(newPlayer(), key)).json.error.code, 'IDEMPOTENCY_CONFLICT')
  t.equal((await post(first, sandbox, '/deposits/dep_x/confirm', invalid, key)).json.error.code, 'IDEMPOTENCY_CONFLICT')
})

t.test('a key past its memory whose outcome nobody stored is resolved, then names a new effect', async (t) => {
  const key = randomUUID()
  const before = await register(newPlayer(), key)
  await forgetReply(key, expired)
  const after = await register(newPlayer(), key)
  t.equal(after.status, 201)
  t.not(after.json.id, before.json.id)
})

t.test('a message that comes after its key was given a new effect does nothing', async (t) => {
  const [key, late] = [randomUUID(), `opn_${randomUUID()}`]
  const input = newPlayer()
  const { json } = await register(newPlayer(), key)
  // As it stands when the message of the first attempt has been under way for a day.
  await forgetReply(key, `${expired}, operation_id = '${late}'`)
  t.equal((await register(newPlayer(), key)).status, 201)
  const { rows } = await admin.query(
    'select operator_id as "operatorId", brand_id as "brandId", environment, currency, time_zone as "timeZone" from players.player where id = $1',
    [json.id],
  )
  const call = bed.rpc.call(operations.players.registerPlayer, { scope: rows[0], input, operationId: late })
  t.equal(await refusal(call), 'SERVICE_UNAVAILABLE')
  const made = 'select from players.player where external_id = $1'
  t.equal((await admin.query(made, [input.externalId])).rowCount, 0)
})

t.test(
  'while a service is away the answer is 503 with Retry-After, nothing is stored, and the same key finishes it',
  async (t) => {
    const body = newPlayer()
    const key = randomUUID()
    await bed.services.players.drain()
    const away = await register(body, key)
    t.equal(away.status, 503)
    t.equal(away.json.error.code, 'SERVICE_UNAVAILABLE')
    t.equal(away.headers['retry-after'], '1')
    t.equal(
      (await register(newPlayer(), key)).json.error.code,
      'IDEMPOTENCY_CONFLICT',
      'the key still names the first request',
    )
    await bed.start('players')
    const created = await eventually(async () => {
      const answer = await register(body, key)
      return answer.status === 201 ? answer : false
    })
    t.ok(created)
  },
)

t.test('while PostgreSQL is away the answer is 503 with Retry-After, and the same key finishes it', async (t) => {
  const database = new URL(bed.databaseUrl).pathname.slice(1)
  const administrator = new pg.Client({ connectionString: await postgres() })
  await administrator.connect()
  t.teardown(() => administrator.end())
  const [body, key] = [newPlayer(), randomUUID()]
  await administrator.query(`alter database ${database} with allow_connections false`)
  await administrator.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database])
  const away = await eventually(async () => {
    const answer = await register(body, key)
    return answer.status === 503 && answer
  })
  t.equal(away.json.error.code, 'SERVICE_UNAVAILABLE')
  t.equal(away.headers['retry-after'], '1')
  const readiness = await fetch(`http://127.0.0.1:${bed.services.gateway.healthPort}/readyz`)
  t.equal(readiness.status, 200, 'the gateway stays where it can say so')
  await administrator.query(`alter database ${database} with allow_connections true`)
  t.ok(await eventually(async () => (await register(body, key)).status === 201))
})
