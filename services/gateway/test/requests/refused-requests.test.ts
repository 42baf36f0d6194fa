import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { operations } from '@backoffice/contracts'
import { createLogger } from '@backoffice/process'
import { eventually, newPlayer, TestTime } from '@backoffice/test-kit'
import t from 'tap'
import { pathOf, RefusedRequests } from '../../src/http/refused-requests.ts'
import { keptMax } from '../../src/requests/records.ts'
import { gatewayBed } from '../bed.ts'
import { type Answer, type Pair, post, send } from '../signed-client.ts'

const time = new TestTime()
const bed = await gatewayBed(t, {}, { time })
const { baseUrl } = bed.services.gateway.addresses
const { countRefusals, createOperator, findIdempotencyKey, listRefusedRequests } = operations.gateway
const alice = bed.team('alice')
const db = bed.sql('gateway')
const created = (name: string, rateLimitPerMinute = 1_000_000) =>
  alice.call(createOperator, { input: { name, rateLimitPerMinute } })
const { operatorId, sandbox, production } = await created('Casa Azul')
const other = await created('Other')

const person = () => newPlayer({ name: 'João Souza', email: 'joao@example.com' })

const list = (input: Parameters<typeof alice.call<typeof listRefusedRequests>>[1]['input']) =>
  alice.call(listRefusedRequests, { input })

/** What is kept of a reply, once it is written. */
const kept = (answer: Pick<Answer, 'headers'>) =>
  eventually(async () => {
    const { data } = await list({ requestId: String(answer.headers['x-request-id']), limit: 1 })
    return data[0] ?? false
  })

t.test(
  'each refusal is found by its request id, with what it was and whose, and nothing out of its body',
  async (t) => {
    const { id: playerId } = (await post(baseUrl, sandbox, '/players', person())).json
    const key = randomUUID()
    await post(baseUrl, sandbox, '/players', person(), key)
    const wrong = person()
    const cases: readonly (readonly [string, Promise<Answer>, object])[] = [
      [
        'INVALID_SIGNATURE',
        send(baseUrl, { ...sandbox, secret: 'sk_wrong' }, { path: '/me?x=1' }),
        { verified: false, operation: 'getMe', path: '/api/v1/me' },
      ],
      [
        'INVALID_SIGNATURE',
        send(baseUrl, { ...(production as Pair), secret: 'sk_wrong' }, { path: '/me' }),
        { environment: 'production', canonicalString: null },
      ],
      [
        'TIMESTAMP_OUT_OF_RANGE',
        send(baseUrl, sandbox, { path: '/me', timestamp: '1700000000000' }),
        { hint: 'X-Timestamp is in milliseconds; expected epoch seconds' },
      ],
      [
        'VALIDATION_ERROR',
        post(baseUrl, sandbox, '/players', { ...wrong, email: 'no' }),
        { fields: '/email', operation: 'registerPlayer', method: 'POST' },
      ],
      ['IDEMPOTENCY_CONFLICT', post(baseUrl, sandbox, '/players', wrong, key), { operation: 'registerPlayer' }],
      [
        'PLAYER_NOT_FOUND',
        send(baseUrl, sandbox, { path: '/players/ply_01jd0000000000000000000000/wallet' }),
        { path: '/api/v1/players/ply_01jd0000000000000000000000/wallet' },
      ],
      [
        'NOT_FOUND',
        send(baseUrl, sandbox, { path: '/players/Ana%20Souza/balance' }),
        { operatorId: null, operation: null, path: '/api/v1/players/…/balance' },
      ],
      [
        'SANDBOX_ONLY',
        post(baseUrl, production, '/sandbox/withdrawals/wdr_01jd0000000000000000000000/decision', {}),
        { environment: 'production' },
      ],
      [
        'KYC_NOT_APPROVED',
        post(baseUrl, sandbox, `/players/${playerId}/withdrawals`, {
          amount: '1.00',
          currency: 'BRL',
          destination: { type: 'pix', key: 'a@b.co' },
        }),
        {},
      ],
    ]
    for (const [code, sent, expected] of cases) {
      const answer = await sent
      if (answer.json.error.code !== code) t.comment(answer.text)
      const found = await kept(answer)
      t.match(found, { code: answer.json.error.code, status: answer.status, ...expected }, code)
      if (!('operatorId' in expected)) t.match(found, { operatorId, operatorName: 'Casa Azul', outcomeKnown: true })
    }
    const explained = await send(baseUrl, { ...sandbox, secret: 'sk_wrong' }, { path: '/me?name=Souza' })
    const { details } = explained.json.error
    const masked = details.canonicalString.replace('?name=Souza', '?…')
    t.equal((await kept(explained)).canonicalString, masked, 'but for the query')
    const all = await db.query('select * from refused_request')
    t.notMatch(JSON.stringify(all.rows), /Souza|joao|sk_|1990-05-17/)
    for (const secret of [wrong.cpf, wrong.externalId, sandbox.secret ?? ''])
      t.notMatch(JSON.stringify(all.rows), secret)
  },
)

t.test(
  'so are an unknown key, bytes that are no request, a limit, and a fault whose outcome is not known',
  async (t) => {
    const unknown = await send(baseUrl, { key: `bk_test_${'0'.repeat(32)}`, secret: 'x' }, { path: '/me' })
    t.match(await kept(unknown), { operatorId: null, environment: null, code: 'INVALID_CREDENTIALS' })

    const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1')
    socket.end(`GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`)
    const [bytes] = await once(socket, 'data')
    const [, id = ''] = /X-Request-Id: (\S+)/.exec(String(bytes)) ?? []
    t.match(await kept({ headers: { 'x-request-id': id } }), {
      code: 'HEADERS_TOO_LARGE',
      status: 431,
      operatorId: null,
    })

    const slow = await created('Slow', 1)
    await send(baseUrl, slow.sandbox, { path: '/me' })
    const limited = await send(baseUrl, slow.sandbox, { path: '/me' })
    t.match(await kept(limited), { code: 'RATE_LIMITED', verified: true, operatorId: slow.operatorId })

    await bed.services.wallet.drain()
    const away = await send(baseUrl, sandbox, { path: '/players/ply_01jd0000000000000000000000/wallet' })
    t.match(await kept(away), { status: 503, code: 'SERVICE_UNAVAILABLE', outcomeKnown: false })
    await bed.start('wallet')
  },
)

t.test('a list is of one operator, newest first, in pages', async (t) => {
  for (let count = 0; count < 3; count++)
    await kept(await send(baseUrl, other.sandbox, { path: '/players/ply_x/wallet' }))
  const first = await list({ operatorId: other.operatorId, environment: 'sandbox', limit: 2 })
  t.equal(first.data.length, 2)
  const second = await list({ operatorId: other.operatorId, limit: 2, before: first.nextCursor ?? '' })
  t.equal(second.data.length, 1)
  t.equal(second.nextCursor, null)
  const ids = [...first.data, ...second.data].map(({ requestId }) => requestId)
  t.same(ids, ids.toSorted().reverse())
  t.ok([...first.data, ...second.data].every((one) => one.operatorId === other.operatorId))
  t.same((await list({ operatorId: other.operatorId, environment: 'production', limit: 2 })).data, [])
  t.same((await list({ operatorId: other.operatorId, code: 'RATE_LIMITED', limit: 2 })).data, [])
})

t.test('what a provider was refused is kept beside it, but for what is a play', async (t) => {
  const { createProvider, setProviderGrant, issueProviderKey, getOperator } = operations.gateway
  const { id: providerId } = await alice.call(createProvider, { input: { name: 'Estudio Um' } })
  const { brands } = await alice.call(getOperator, { input: { name: 'Casa Azul' } })
  const brandId = brands.find(({ environment }) => environment === 'sandbox')?.id ?? ''
  await alice.call(setProviderGrant, { input: { providerId, brandId, grant: 'active' } })
  const pair = await alice.call(issueProviderKey, { input: { providerId, environment: 'sandbox' } })
  const { id: playerId } = (await post(baseUrl, sandbox, '/players', person())).json
  const ask = (path: string, body?: object, as: Pair = pair, brand = brandId) =>
    send(`${bed.services.gateway.addresses.providerUrl}/${brand}`, as, {
      ...{ path, method: body === undefined ? 'GET' : 'POST' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const bet = { transactionId: 'a-bet', sessionId: 'ses_x', playerId, roundId: 'r', gameId: 'g', amount: '1.00' }
  const refusedStake = await ask('/bets', { ...bet, currency: 'BRL' })
  t.equal(refusedStake.json.error.code, 'SESSION_NOT_FOUND')
  const prefix = `/provider/v1/${brandId}`
  const nobody = { providerId: null, environment: null, verified: false }
  const cases: readonly (readonly [string, Promise<Answer>, object])[] = [
    ['INVALID_CREDENTIALS', ask('/bets', bet, { ...pair, key: `gp_test_${'0'.repeat(32)}` }), nobody],
    [
      'INVALID_SIGNATURE',
      ask('/rounds?roundId=x', undefined, { ...pair, secret: 'sk_wrong' }),
      { verified: false, canonicalString: new RegExp(`^GET\\n${prefix}/rounds\\?…\\n`) },
    ],
    ['BRAND_NOT_GRANTED', ask('/bets', bet, pair, 'brd_x'), { verified: true, operation: 'placeBet' }],
    ['VALIDATION_ERROR', ask('/bets', bet), { fields: '/currency', path: `${prefix}/bets`, method: 'POST' }],
    ['PLAYER_NOT_FOUND', ask('/bets', { ...bet, playerId: 'ply_x', currency: 'BRL' }), {}],
    [
      'BET_NOT_FOUND',
      ask('/wins', { ...bet, roundId: 'other', sessionId: undefined, gameId: undefined, currency: 'BRL' }),
      {},
    ],
    ['TRANSACTION_NOT_FOUND', ask('/transactions/bet/any'), { path: `${prefix}/transactions/bet/any` }],
    ['SESSION_NOT_FOUND', ask('/sessions/ses_x'), { operation: 'readPlaySession' }],
  ]
  for (const [code, sent, expected] of cases) {
    const named = { providerId, providerName: 'Estudio Um', environment: 'sandbox' }
    const own = 'providerId' in expected ? {} : named
    t.match(await kept(await sent), { code, ...own, operatorId: null, operatorName: null, ...expected }, code)
  }
  // They are written in order, so that what is kept came before the last of them.
  const { data } = await list({ providerId, environment: 'sandbox', limit: 100 })
  t.same(
    data.map(({ code }) => code).toReversed(),
    cases.slice(1).map(([code]) => code),
    'the stake is a play',
  )
  const requestId = String(refusedStake.headers['x-request-id'])
  const plays = await alice.call(operations.wallet.listPlays, { input: { transactionId: requestId, limit: 2 } })
  t.match(plays.data, [{ transactionId: 'a-bet', code: 'SESSION_NOT_FOUND', requestId, providerId }])
  t.same((await list({ providerId, operatorId, limit: 2 })).data, [])

  await db.query(`update refused_today set refused = $1 where operator_id in ('prv_', $2)`, [keptMax, providerId])
  const unknown = { secret: 'x', key: `gp_test_${'0'.repeat(32)}` }
  const flood = await Promise.all([...Array(5)].flatMap(() => [ask('/rounds', undefined, unknown), ask('/rounds')]))
  await eventually(async () => (await list({ providerId, limit: 1 })).notKeptToday === 5)
  await kept(await send(baseUrl, { ...unknown, key: `bk_test_${'0'.repeat(32)}` }, { path: '/me' }))
  t.pass('operators have room of their own')
  const ids = flood.map(({ headers }) => headers['x-request-id'])
  const { rows } = await db.query('select from refused_request where request_id = any($1)', [ids])
  t.equal(rows.length, 0, 'of a flood of a provider, or of nobody, no more is kept than there is room for')
})

t.test('an Idempotency-Key leads to what it did, for each operator that used it', async (t) => {
  const key = randomUUID()
  const { id: playerId } = (await post(baseUrl, sandbox, '/players', person())).json
  const deposit = { amount: '1.00', currency: 'BRL', method: 'pix', externalReference: 'x' }
  const created = await post(baseUrl, sandbox, `/players/${playerId}/deposits`, deposit, key)
  const refused = await post(baseUrl, other.sandbox, '/players/ply_x/deposits', deposit, key)
  const { data } = await alice.call(findIdempotencyKey, { input: { key } })
  t.match(data, [
    {
      operatorName: 'Casa Azul',
      environment: 'sandbox',
      operation: 'createDeposit',
      status: 201,
      code: null,
      recordId: created.json.id,
      requestId: created.headers['x-request-id'],
    },
    { operatorName: 'Other', status: refused.status, code: refused.json.error.code, recordId: null },
  ])
  t.same((await alice.call(findIdempotencyKey, { input: { key: `${key}x` } })).data, [])
})

t.test('who floods is counted, and takes no more room than there is', async (t) => {
  const loud = await created('Loud')
  await kept(await send(baseUrl, loud.sandbox, { path: '/players/ply_x/wallet' }))
  await db.query('update refused_today set refused = $1 where operator_id = $2', [keptMax, loud.operatorId])
  for (let count = 0; count < 5; count++) await send(baseUrl, loud.sandbox, { path: '/players/ply_x/wallet' })
  const { data, notKeptToday } = await eventually(async () => {
    const page = await list({ operatorId: loud.operatorId, environment: 'sandbox', limit: 10 })
    return page.notKeptToday === 5 && page
  })
  t.equal(data.length, 1)
  t.equal(notKeptToday, 5)
  await kept(await send(baseUrl, { ...loud.sandbox, secret: 'sk_wrong' }, { path: '/me' }))
  await kept(await send(baseUrl, other.sandbox, { path: '/players/ply_x/wallet' }))
  t.pass('who sends its key with a wrong signature, and others, have room of their own')

  await db.query('update refused_today set day = day - 1 where operator_id = $1', [loud.operatorId])
  await eventually(async () => {
    await send(baseUrl, loud.sandbox, { path: '/players/ply_x/wallet' })
    return (await list({ operatorId: loud.operatorId, environment: 'sandbox', limit: 10 })).data.length > 2
  })
  t.pass('the next day begins anew')
})

t.test('while PostgreSQL is away they are counted, and no more than a thousand wait', async (t) => {
  let away = true
  const texts: (readonly unknown[])[] = []
  const log = createLogger('test', 'silent')
  const fake = async (_text: TemplateStringsArray, ...values: readonly unknown[]) => {
    if (away) throw new Error('away')
    texts.push(values)
    return []
  }
  const refused = new RefusedRequests({ db: fake as never, clock: time, log })
  for (let count = 0; count < 3_000; count++)
    refused.unread(`req_${count}`, 400, 'VALIDATION_ERROR', `10.0.0.${count % 250}`)
  refused.start()
  await eventually(async () => true)
  away = false
  await refused.stop()
  t.equal(texts.length, 1)
  t.match(JSON.stringify(texts), 'req_999')
  t.notMatch(JSON.stringify(texts), 'req_1000')
})

t.test('of one address, or one /64, a tenth of the places is taken at most', async (t) => {
  const written: string[] = []
  const fake = async (_text: TemplateStringsArray, ...values: readonly unknown[]) => {
    written.push(JSON.stringify(values))
    return []
  }
  const refused = new RefusedRequests({ db: fake as never, clock: time, log: createLogger('test', 'silent') })
  for (let count = 0; count < 600; count++) {
    const [high, low] = [count >> 8, count & 255].map((part) => part.toString(16))
    refused.unread(`req_${count}`, 400, 'VALIDATION_ERROR', `2001:db8::${high}:${low}`)
  }
  refused.unread('req_other', 400, 'VALIDATION_ERROR', '2001:db8:0:1::1')
  refused.start()
  await refused.stop()
  const all = written.join()
  for (const id of ['"req_0"', '"req_499"', '"req_other"']) t.match(all, id)
  t.notMatch(all, '"req_500"')
})

t.test('of a path the names and our ids are kept', (t) => {
  t.equal(
    pathOf('/api/v1/players/ply_01jd0000000000000000000000/wallet?x=1'),
    '/api/v1/players/ply_01jd0000000000000000000000/wallet',
  )
  t.equal(pathOf('/api/v1/players/12345678909/kyc'), '/api/v1/players/…/kyc')
  t.equal(pathOf('/api/v1/openapi.json'), '/api/v1/openapi.json')
  t.ok(pathOf(`/${'x/'.repeat(1_000)}`).length <= 300)
  t.end()
})

t.test('refusals are counted by operator and code, of one environment, the most frequent first', async (t) => {
  const { operatorId: id, production: pair } = await created('Counted')
  for (let times = 0; times < 2; times += 1)
    await kept(await send(baseUrl, pair as Pair, { path: '/players/ply_x/wallet' }))
  const last = await kept(await post(baseUrl, pair as Pair, '/players', {}))
  const { data } = await alice.call(countRefusals, { input: { environment: 'production' } })
  const own = data.filter((row) => row.operatorId === id)
  t.match(own, [
    { operatorName: 'Counted', code: 'PLAYER_NOT_FOUND', refused: 2 },
    { operatorName: 'Counted', code: 'VALIDATION_ERROR', refused: 1, lastAt: last.at },
  ])
  t.equal(own.length, 2)
  const inSandbox = (await alice.call(countRefusals, { input: { environment: 'sandbox' } })).data
  t.notOk(inSandbox.some((row) => row.operatorId === id))
})
