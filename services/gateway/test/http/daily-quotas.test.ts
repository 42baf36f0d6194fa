import { randomUUID } from 'node:crypto'
import { bodyBytesMax, errorDetails, operations, requestsPerMinuteDefault } from '@backoffice/contracts'
import { dayMs } from '@backoffice/process'
import { eventually, newCpf, newPlayer, TestTime } from '@backoffice/test-kit'
import { Value } from '@sinclair/typebox/value'
import t from 'tap'
import { gatewayBed } from '../bed.ts'
import { type Answer, clientAt, type Pair } from '../signed-client.ts'

const settings = { SANDBOX_STORED_MIB_PER_DAY: 1, SANDBOX_STORED_ROWS_PER_DAY: 1_000 }
// Noon of UTC, where a day of quotas begins and ends.
const noon = new Date(Math.floor(Date.now() / dayMs) * dayMs + dayMs / 2)
const midnight = new Date(noon.getTime() + dayMs / 2)
const time = new TestTime(noon)
const bed = await gatewayBed(t, settings, { time })
const gateways = [bed.services.gateway, await bed.start('gateway')]
const [one = '', other = ''] = gateways.map(({ addresses }) => addresses.baseUrl)
const { createOperator, getOperator, setOperatorLimits } = operations.gateway
const alice = bed.team('alice')
const db = bed.sql('gateway')
const { send, post } = clientAt(() => time.now())

const created = (name: string) => alice.call(createOperator, { input: { name, rateLimitPerMinute: 1_000_000 } })

const register = (baseUrl: string, pair: Pair | null) => post(baseUrl, pair, '/players', newPlayer())
const deposit = (pair: Pair | null, playerId: string) => {
  const body = { amount: '10.00', currency: 'BRL', method: 'pix', externalReference: randomUUID() }
  return post(one, pair, `/players/${playerId}/deposits`, body)
}

async function useOf(operatorId: string, environment = 'sandbox') {
  const { storedToday = [] } = await alice.call(getOperator, { input: { name: operatorId } })
  return storedToday.find((use) => use.environment === environment)
}

/** As if so much had been stored today. */
async function use(operatorId: string, { bytes = 0, rows = 0 }, environment = 'sandbox'): Promise<void> {
  await db.query(
    `insert into daily_use (operator_id, environment, day, bytes, rows)
      values ($1, $2, $5::date, $3, $4)
      on conflict (operator_id, environment) do update set day = excluded.day, bytes = excluded.bytes, rows = excluded.rows`,
    [operatorId, environment, bytes, rows, time.now().toISOString()],
  )
}

const mebibyte = 1024 * 1024
const { stores } = operations.players.registerPlayer
const rowsOfPlayer = typeof stores === 'object' ? stores.rows : 0

/** The next answer that is refused for a quota: what is written elsewhere is heard of within a second. */
const refusedSoon = (call: () => Promise<Answer>) =>
  eventually(async () => {
    const answer = await call()
    return answer.json.error?.code === 'DAILY_QUOTA_EXCEEDED' ? answer : false
  })

const isRefusal = (answer: Answer) => answer.status === 429 && answer.json.error.code === 'DAILY_QUOTA_EXCEEDED'

t.test('beyond a quota nothing is begun, and the refusal says which, how much, and until when', async (t) => {
  const { operatorId, sandbox, production } = await created('Full')
  const neighbour = await created('Neighbour')
  let answer = await register(one, sandbox)
  t.equal(answer.status, 201)
  for (let count = 1; count < 500 && answer.status === 201; count++) answer = await register(one, sandbox)
  t.ok(isRefusal(answer), answer.text)
  const { details } = answer.json.error
  t.strictSame([...Value.Errors(errorDetails.DAILY_QUOTA_EXCEEDED.schema, details)], [])
  t.match(details, { quota: 'bytes', limit: mebibyte })
  t.ok(details.used <= mebibyte)
  t.equal(details.resetsAt, midnight.toISOString())
  t.equal(answer.headers['retry-after'], String(dayMs / 2_000), 'Retry-After ends with the day')

  t.equal((await register(one, production)).status, 201, 'production has a quota of its own')
  t.equal((await register(one, neighbour.sandbox)).status, 201, 'so has another operator')
  t.equal((await send(one, sandbox, { path: '/me' })).status, 200, 'reads go on')
  t.ok(isRefusal(await refusedSoon(() => register(other, sandbox))), 'the other replica hears of it')
  const use = await eventually(async () => {
    const found = await useOf(operatorId)
    return found !== undefined && found.bytes >= details.used ? found : false
  })
  t.match(use, { bytesMax: mebibyte, rowsMax: 1_000 })
})

t.test('a refused request leaves no claim, and its key is used when the day is over', async (t) => {
  const { operatorId, sandbox } = await created('Tomorrow')
  t.teardown(() => time.set(noon))
  await time.set(new Date(midnight.getTime() - 5_000))
  await use(operatorId, { bytes: mebibyte })
  const key = randomUUID()
  const body = JSON.stringify(newPlayer())
  const again = () =>
    send(one, sandbox, { method: 'POST', path: '/players', body, headers: { 'Idempotency-Key': key } })
  const refused = await again()
  t.ok(isRefusal(refused))
  t.equal(refused.headers['retry-after'], '5')
  t.equal((await db.query('select from claim where key = $1', [key])).rowCount, 0)
  await time.set(midnight)
  const answer = await eventually(async () => {
    const answer = await again()
    return isRefusal(answer) ? false : answer
  })
  t.equal(answer.status, 201)
  const { rows } = await eventually(async () => {
    const found = await db.query('select day::text, rows::integer from daily_use where operator_id = $1', [operatorId])
    return found.rows[0].day === midnight.toISOString().slice(0, 10) ? found : false
  })
  t.equal(rows[0].rows, rowsOfPlayer, "yesterday's use is not carried over")
})

t.test('what was begun is ended beyond the quota, a reply is replayed, and a new key is refused', async (t) => {
  const { operatorId, sandbox } = await created('Begun')
  const [key, body] = [randomUUID(), newPlayer()]
  const player = await post(one, sandbox, '/players', body, key)
  const { id } = player.json
  const [paid, failed] = [(await deposit(sandbox, id)).json, (await deposit(sandbox, id)).json]
  await post(one, sandbox, `/sandbox/players/${id}/kyc/decision`, { status: 'aprovado' })
  await use(operatorId, { bytes: mebibyte })
  // A call that is counted with little, since some are accepted until the replica hears of it.
  const open = () => post(one, sandbox, `/players/${id}/game-sessions`, { gameId: 'no-such-game' })
  await refusedSoon(open)
  t.ok(isRefusal(await deposit(sandbox, id)))
  t.equal((await post(one, sandbox, `/deposits/${paid.id}/confirm`, {})).status, 200)
  t.equal((await post(one, sandbox, `/deposits/${failed.id}/fail`, {})).status, 200)
  const again = await post(one, sandbox, '/players', body, key)
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.equal(again.text, player.text)
  t.equal((await post(one, sandbox, '/players', {}, key)).json.error.code, 'IDEMPOTENCY_CONFLICT')
  for (const path of [`/sandbox/players/${id}/kyc/decision`, '/webhooks/test'])
    t.ok(isRefusal(await post(one, sandbox, path, {})), path)
  t.equal(
    (await send(one, sandbox, { method: 'POST', path: '/players', body: '{}' })).json.error.code,
    'IDEMPOTENCY_KEY_REQUIRED',
  )
})

t.test('refusals of what would end a record are bounded, an eighth beyond the quota', async (t) => {
  const { operatorId, sandbox } = await created('Idle endings')
  await use(operatorId, { bytes: Math.floor(1.12 * mebibyte) })
  const confirm = () => post(one, sandbox, '/deposits/dep_unknown/confirm', {})
  t.equal((await confirm()).status, 404)
  const answer = await refusedSoon(confirm)
  t.match(answer.json.error.details, { quota: 'bytes', limit: 1.125 * mebibyte })
})

t.test("the team sets an operator's quotas, which the sandbox's own bound", async (t) => {
  const { operatorId, sandbox, production } = await created('Agreed')
  const input = { operatorId, storedMebibytesPerDay: 2, storedRowsPerDay: 5_000, reason: 'agreed' }
  const limits = { storedMebibytesPerDay: 2, storedRowsPerDay: 5_000 }
  t.match(await alice.call(setOperatorLimits, { input }), limits)
  t.match(await alice.call(getOperator, { input: { name: operatorId } }), limits)
  const { rows } = await bed
    .sql('admin')
    .query("select changes from gateway.audit_entry where operation = 'setOperatorLimits'")
  t.match(JSON.stringify(rows), /storedMebibytesPerDay/)
  for (const environment of ['sandbox', 'production']) await use(operatorId, { bytes: 1.5 * mebibyte }, environment)
  await refusedSoon(() => register(one, sandbox))
  t.equal((await register(one, production)).status, 201)
  t.match(await useOf(operatorId, 'production'), { bytesMax: 2 * mebibyte, rowsMax: 5_000 })
  t.match(await useOf(operatorId), { bytesMax: mebibyte, rowsMax: 1_000 })
  await use(operatorId, { bytes: 2 * mebibyte }, 'production')
  await refusedSoon(() => register(one, production))
})

t.test(
  'who keeps its rate limit in production is not refused, were every request of the day the heaviest',
  async (t) => {
    const { operatorId, production } = await alice.call(createOperator, { input: { name: 'Busy' } })
    const { id } = (await register(one, production)).json
    const money = { amount: '1.00', currency: 'BRL', method: 'pix' }
    const calls: Readonly<Record<string, object>> = {
      '/players': newPlayer(),
      [`/players/${id}/kyc/submissions`]: { documentType: 'rg', reference: 'r' },
      [`/players/${id}/deposits`]: { ...money, externalReference: randomUUID() },
      [`/players/${id}/withdrawals`]: { ...money, destination: 'd' },
      [`/players/${id}/game-sessions`]: { gameId: 'fortune-reels' },
      '/deposits/dep_unknown/confirm': {},
      '/withdrawals/wdr_unknown/cancel': {},
      '/webhooks/test': {},
    }
    const call = async (baseUrl: string, path: string) => {
      const body = JSON.stringify(calls[path]).padEnd(bodyBytesMax)
      const headers = { 'Idempotency-Key': randomUUID() }
      const answer = await send(baseUrl, production, { method: 'POST', path, body, headers })
      t.not(answer.status, 429, `${path}: ${answer.text}`)
    }
    const usedSoon = (rowsMin: number) =>
      eventually(async () => {
        const found = await useOf(operatorId, 'production')
        return found !== undefined && found.rows > rowsMin ? found : false
      })
    let [before, heaviest] = [await usedSoon(0), { bytes: 0, rows: 0 }]
    for (const path of Object.keys(calls)) {
      await call(one, path)
      const after = await usedSoon(before.rows)
      const [bytes, rows] = [after.bytes - before.bytes, after.rows - before.rows]
      heaviest = { bytes: Math.max(heaviest.bytes, bytes), rows: Math.max(heaviest.rows, rows) }
      before = after
    }
    const requests = requestsPerMinuteDefault * 60 * 24 - Object.keys(calls).length
    await use(operatorId, { bytes: requests * heaviest.bytes, rows: requests * heaviest.rows }, 'production')
    // The other replica has not met this key, so it reads the day's use.
    for (const path of Object.keys(calls)) await call(other, path)
  },
)

t.test('two replicas at once pass a quota by little, and what a replica counted outlives it', async (t) => {
  const { operatorId, sandbox } = await created('Replicas')
  const leaving = await bed.start('gateway')
  const third = leaving.addresses.baseUrl
  let accepted = 0
  const counted = async (baseUrl: string) => {
    const answer = await register(baseUrl, sandbox)
    if (answer.status === 201) accepted += 1
    return answer
  }
  const all = [one, other, third]
  await use(operatorId, { bytes: 0.75 * mebibyte })
  // Together a little less than the rest of the quota, however soon they hear of each other.
  for (let round = 0; round < 10; round++) await Promise.all(all.map(counted))
  for (const baseUrl of all) await refusedSoon(() => counted(baseUrl))
  await leaving.drain()
  const bytes = await eventually(async () => {
    const found = await useOf(operatorId)
    return found !== undefined && found.rows === accepted * rowsOfPlayer && found.bytes
  })
  t.ok(bytes < 2 * mebibyte, `${bytes} bytes`)
  const { addresses } = await bed.start('gateway')
  t.ok(isRefusal(await register(addresses.baseUrl, sandbox)), 'a replica that starts knows it at once')
})

t.test('a registration counts with two events only of somebody who is excluded', async (t) => {
  const { operatorId, sandbox } = await created('Excluded')
  const cpf = newCpf()
  const of = async (body: object) => {
    const before = (await useOf(operatorId))?.rows ?? 0
    const { json } = await post(one, sandbox, '/players', { ...newPlayer(), ...body })
    return { id: json.id, added: async () => ((await useOf(operatorId))?.rows ?? 0) - before }
  }
  const { id: playerId, added } = await of({ cpf })
  await eventually(async () => (await added()) === rowsOfPlayer)
  await alice.call(operations.players.selfExcludePlayer, { input: { playerId, until: null, reason: 'asked for it' } })
  const excluded = await of({ cpf })
  await eventually(async () => (await excluded.added()) === rowsOfPlayer + 13)
  const [other] = [await of({}), await of({}), await of({})]
  // The first ones have been looked at when the last one is counted.
  await eventually(async () => (await other.added()) >= 3 * rowsOfPlayer)
  t.equal(await other.added(), 3 * rowsOfPlayer, 'nobody counts with the exclusion of another person')
  t.ok(rowsOfPlayer <= 5, 'so 2,000,000 rows are 400,000 players')
})
