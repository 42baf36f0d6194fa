import { randomUUID } from 'node:crypto'
import { operations, providerErrors, providerOperations, sandboxPlayAmounts } from '@backoffice/contracts'
import { loadConfig, systemTimers, type Timers } from '@backoffice/process'
import { startService } from '@backoffice/service-runtime/testing'
import { byTwo, eventually, natsPassword, newPlayer } from '@backoffice/test-kit'
import t from 'tap'
import { request } from 'undici'
import type { Access } from '../../src/http/authenticate.ts'
import { aroundStakes } from '../../src/providers/stakes.ts'
import { gateway } from '../../src/service.ts'
import { gatewayBed } from '../bed.ts'
import { type Answer, exchange, type Pair, post, type SignedRequest, send } from '../signed-client.ts'

let stoppedAt: Date | undefined
const settings = { SANDBOX_PLAY_STAKES_PER_DAY: 20, TRUSTED_PROXIES: '127.0.0.0/8', PROVIDER_DIRECT_PORT: 0 }
const bed = await gatewayBed(t, settings, { clock: { now: () => stoppedAt ?? new Date() } })
/** How much more time has passed by the clock that measures the life of entries. */
let aheadMs = 0
const sinceStartMs = performance.now.bind(performance)
t.intercept(performance, 'now', { value: () => sinceStartMs() + aheadMs })
const alice = bed.team('alice')
const {
  createOperator,
  createProvider,
  getOperator,
  getProvider,
  issueProviderKey,
  revokeProviderKey,
  setProviderGrant,
} = operations.gateway

const { baseUrl, providerUrl, directUrl } = bed.services.gateway.addresses
const { providerUrl: otherUrl } = (await bed.start('gateway')).addresses

async function operatorOf(name: string) {
  const { operatorId, sandbox } = await alice.call(createOperator, { input: { name } })
  const { brands } = await alice.call(getOperator, { input: { name } })
  const brandOf = (environment: string) => brands.find((brand) => brand.environment === environment)?.id ?? ''
  return { operatorId, pair: sandbox as Pair, sandbox: brandOf('sandbox'), production: brandOf('production') }
}

const grant = (providerId: string, brandId: string) =>
  alice.call(setProviderGrant, { input: { providerId, brandId, grant: 'active' } })
const keyOf = (providerId: string): Promise<Pair> =>
  alice.call(issueProviderKey, { input: { providerId, environment: 'sandbox' } })

/** A provider with a key of the sandbox, which was granted these brands. */
async function providerOf(name: string, brandIds: readonly string[] = [], terms: object = {}) {
  const { id } = await alice.call(createProvider, { input: { name, ...terms } })
  for (const brandId of brandIds) await grant(id, brandId)
  return { id, pair: await keyOf(id) }
}

const acme = await operatorOf('Acme')
const rival = await operatorOf('Rival')
const one = await providerOf('One', [acme.sandbox])
const two = await providerOf('Two', [acme.sandbox, rival.sandbox])

type Options = Partial<SignedRequest> & { readonly brand?: string; readonly to?: string }
/** A read that finds nothing, as whoever is let in is told. */
const ask = (pair: Pair, { brand = acme.sandbox, to = providerUrl, ...options }: Options = {}) =>
  send(`${to}/${brand}`, pair, { path: '/sessions/ses_x', ...options })
const letIn = '404 SESSION_NOT_FOUND'
const code = ({ status, json, headers }: Answer) => {
  const { code, message, requestId, details } = json.error
  t.equal(requestId, headers['x-request-id'], 'the envelope carries X-Request-Id')
  const { retry, message: words } = providerErrors[code as keyof typeof providerErrors]
  t.same([details.retry, message], [retry, words], 'in the words of this surface')
  return `${status} ${code}`
}

const bet = (terms: object = {}) =>
  JSON.stringify({
    transactionId: randomUUID(),
    sessionId: 'ses_x',
    playerId: 'ply_x',
    roundId: 'round-1',
    gameId: 'wallet-reels',
    amount: '1.00',
    currency: 'BRL',
    ...terms,
  })
const stake = (pair: Pair, body = bet(), options: Options = {}) =>
  ask(pair, { method: 'POST', path: '/bets', body, ...options })

t.test('B1–B6: what is wrong is judged in order: key, timestamp, signature, address, brand', async (t) => {
  const { id, pair } = await providerOf('Ordered', [], { allowedAddresses: ['10.0.0.0/8'] })
  const wrong = { ...pair, secret: 'sk_wrong' }
  t.equal(code(await ask({ ...pair, key: `gp_test_${'0'.repeat(32)}` }, { timestamp: '1' })), '401 INVALID_CREDENTIALS')
  t.equal(code(await ask({ ...pair, key: '' })), '401 INVALID_CREDENTIALS')
  t.equal(code(await ask(wrong, { timestamp: '1' })), '401 TIMESTAMP_OUT_OF_RANGE')
  t.equal(code(await ask(wrong)), '401 INVALID_SIGNATURE')
  t.equal(code(await ask(pair)), '403 FORBIDDEN_IP')
  const headers = { 'X-Forwarded-For': '10.0.0.1' }
  t.equal(code(await ask(pair, { headers })), '403 BRAND_NOT_GRANTED')
  await grant(id, acme.sandbox)
  aheadMs += 1_000
  t.equal(code(await ask(pair, { headers })), letIn)
  t.equal(code(await ask(pair, { headers, to: directUrl })), '403 FORBIDDEN_IP', 'no proxy is there')
})

t.test('B1–B6: the signature covers the path with its query and the body, five minutes around our clock', async (t) => {
  const path = `/provider/v1/${acme.sandbox}/rounds?day=2026-03-02`
  t.equal(code(await ask(one.pair, { path: '/rounds?day=2026-03-03', signedPath: path })), '401 INVALID_SIGNATURE')
  t.equal(code(await stake(one.pair, bet(), { signedBody: bet() })), '401 INVALID_SIGNATURE')
  for (const without of ['X-Signature', 'X-Timestamp', 'X-Provider-Key'])
    t.equal((await ask(one.pair, { without })).status, 401)
  const now = Math.floor(Date.now() / 1_000)
  stoppedAt = new Date(now * 1_000)
  t.teardown(() => {
    stoppedAt = undefined
  })
  for (const seconds of [-240, 300]) t.equal(code(await ask(one.pair, { timestamp: `${now + seconds}` })), letIn)
  for (const seconds of [-301, 360])
    t.equal(code(await ask(one.pair, { timestamp: `${now + seconds}` })), '401 TIMESTAMP_OUT_OF_RANGE')
})

t.test('in the sandbox a refusal helps to find the mistake', async (t) => {
  const { json, headers } = await ask({ ...one.pair, secret: 'sk_wrong' })
  t.equal(headers.link, '</provider/v1/docs#error-invalid-signature>; rel="help"')
  const { details } = json.error
  t.match(
    details.canonicalString,
    new RegExp(`^GET\\n/provider/v1/${acme.sandbox}/sessions/ses_x\\n\\d+\\n[0-9a-f]{64}$`),
  )
  t.match(
    (await ask({ ...one.pair, key: 'gp_test_abc' })).json.error.details.hint,
    /^X-Provider-Key, after gp_test_: 3 characters/,
  )
})

t.test('a key of one kind opens nothing on the surface of the other', async (t) => {
  t.equal((await send(baseUrl, one.pair, { path: '/me' })).json.error.code, 'INVALID_CREDENTIALS')
  const disguised = { headers: { 'X-Operator-Key': one.pair.key }, without: 'X-Provider-Key' }
  t.equal((await send(baseUrl, one.pair, { path: '/me', ...disguised })).json.error.code, 'INVALID_CREDENTIALS')
  const operators = { headers: { 'X-Provider-Key': acme.pair.key } }
  t.equal(code(await ask(acme.pair, operators)), '401 INVALID_CREDENTIALS')
  t.equal((await send(providerUrl, one.pair, { path: '/api/v1/me' })).status, 404)
})

t.test(
  'B7: a brand that was not granted is refused, as one of the other environment and one that is none',
  async (t) => {
    await byTwo(bed, setProviderGrant, { providerId: one.id, brandId: acme.production, grant: 'active' })
    const live = await byTwo(bed, issueProviderKey, { providerId: one.id, environment: 'production' })
    aheadMs += 1_000
    t.equal(code(await ask(one.pair)), letIn)
    t.equal(code(await ask(live, { brand: acme.production })), letIn)
    for (const brand of [rival.sandbox, acme.production, 'brd_nobody', 'x'.repeat(100), '%20'])
      t.equal(code(await ask(one.pair, { brand })), '403 BRAND_NOT_GRANTED', brand)
    t.equal(code(await ask(live, { brand: acme.sandbox })), '403 BRAND_NOT_GRANTED')
    t.equal(code(await ask(two.pair, { brand: rival.sandbox })), letIn, 'another provider has it')
  },
)

t.test('A4: two keys work until one is revoked, which holds on every replica within a second', async (t) => {
  const { id, pair: first } = await providerOf('Rotating', [acme.sandbox])
  const second = await keyOf(id)
  const both = async (pair: Pair) => {
    aheadMs += 1_000
    return Promise.all([providerUrl, otherUrl].map(async (to) => code(await ask(pair, { to }))))
  }
  for (const pair of [first, second]) t.same(await both(pair), [letIn, letIn])
  await alice.call(revokeProviderKey, { input: { key: first.key } })
  t.same(await both(first), Array(2).fill('401 INVALID_CREDENTIALS'))
  t.same(await both(second), [letIn, letIn])
  const used = await eventually(async () => {
    const { keys } = await alice.call(getProvider, { input: { name: id } })
    return keys.every(({ lastUsedAt }) => lastUsedAt !== null)
  })
  t.ok(used, 'when each was used is known')
})

t.test('B49: bets have a rate of their own, and wins and reads another', async (t) => {
  const { pair } = await providerOf('Fast', [acme.sandbox], { stakesPerMinute: 3 })
  const statuses = async (count: number, call: () => Promise<Answer>) => {
    const answers = []
    for (let index = 0; index < count; index++) answers.push(await call())
    return answers
  }
  const bets = await statuses(5, () => stake(pair, '{'))
  t.same(bets.map(code), [...Array(3).fill('422 VALIDATION_ERROR'), ...Array(2).fill('429 RATE_LIMITED')])
  t.ok(Number(bets.at(-1)?.headers['retry-after']) > 0)
  const spin = await ask(pair, { method: 'POST', path: '/spins', body: '{' })
  t.equal(code(spin), '429 RATE_LIMITED', 'spins share it')
  const wins = await statuses(5, () => ask(pair, { method: 'POST', path: '/wins', body: '{' }))
  t.same(wins.map(code), Array(5).fill('422 VALIDATION_ERROR'))
  t.equal(code(await stake(two.pair, '{')), '422 VALIDATION_ERROR', 'another provider has its own')
  const slow = await providerOf('Slow', [acme.sandbox], { othersPerMinute: 1 })
  t.same((await statuses(2, () => ask(slow.pair))).map(code), [letIn, '429 RATE_LIMITED'])
  t.equal(code(await stake(slow.pair, '{')), '422 VALIDATION_ERROR')
})

t.test('bets have a quota of the day, by brand; wins, rollbacks and reads have none', async (t) => {
  const { sandbox, pair: operator } = await operatorOf('Played')
  const { pair } = await providerOf('Full', [sandbox, acme.sandbox])
  const answers: Answer[] = []
  for (let count = 0; count < 60 && answers.at(-1)?.json.error.code !== 'DAILY_QUOTA_EXCEEDED'; count++)
    answers.push(await stake(pair, bet(), { brand: sandbox }))
  const refused = answers.at(-1) as Answer
  t.equal(code(refused), '429 DAILY_QUOTA_EXCEEDED')
  t.ok(answers.length > 20, `${answers.length} of 20 of the heaviest`)
  t.match(refused.json.error.details, { quota: 'rows', retry: 'later', resetsAt: String })
  const win = await ask(pair, { brand: sandbox, method: 'POST', path: '/wins', body: '{' })
  t.equal(code(win), '422 VALIDATION_ERROR')
  t.equal(code(await ask(pair, { brand: sandbox })), letIn)
  t.not(code(await stake(pair)), '429 DAILY_QUOTA_EXCEEDED', 'another brand')
  t.equal((await send(baseUrl, operator, { path: '/me' })).status, 200)
  const { storedToday = [] } = await alice.call(getOperator, { input: { name: 'Played' } })
  t.same(storedToday, [], "nothing of the operator's own quota is used")
  const heard = await eventually(async () => {
    aheadMs += 1_000
    const { json } = await stake(pair, bet(), { brand: sandbox, to: otherUrl })
    return json.error.code === 'DAILY_QUOTA_EXCEEDED'
  })
  t.ok(heard, 'the other replica hears of it')
})

/** An active player of an operator with 100.00 and a session of a game, and what a bet of theirs is. */
async function seatOf({ pair }: { readonly pair: Pair }, gameId: string) {
  const ask = async (path: string, body: object = {}) => {
    const { status, json, text } = await post(baseUrl, pair, path, body)
    if (status >= 300) throw new Error(text)
    return json
  }
  const { id: playerId } = await ask('/players', newPlayer())
  await ask(`/sandbox/players/${playerId}/kyc/decision`, { status: 'aprovado' })
  const deposit = { amount: '100.00', currency: 'BRL', method: 'pix', externalReference: randomUUID() }
  await ask(`/deposits/${(await ask(`/players/${playerId}/deposits`, deposit)).id}/confirm`)
  const { id: sessionId } = await ask(`/players/${playerId}/game-sessions`, { gameId })
  return { sessionId, playerId, gameId }
}

const serves = ({ id: providerId }: { readonly id: string }, gameId: string) =>
  alice.call(operations.players.setGameProvider, { input: { gameId, providerId } })

t.test(
  'B8–B10: one transaction id and one round id mean another thing to each provider and in each brand',
  async (t) => {
    const [here, there] = [await operatorOf('Here'), await operatorOf('There')]
    const [first, second] = [
      await providerOf('First', [here.sandbox, there.sandbox]),
      await providerOf('Second', [here.sandbox]),
    ]
    await Promise.all([serves(first, 'wallet-reels'), serves(second, 'fortune-reels')])
    const same = { transactionId: 'same', roundId: 'same' }
    const seat = await seatOf(here, 'wallet-reels')
    const seats = [
      [first, here, seat],
      [first, there, await seatOf(there, 'wallet-reels')],
      [second, here, await seatOf(here, 'fortune-reels')],
    ] as const
    const ids = new Set()
    for (const [{ pair }, { sandbox: brand }, of] of seats) {
      const { status, json } = await stake(pair, bet({ ...of, ...same }), { brand })
      t.match([status, json], [200, { applied: true, replayed: false, balance: '99.00' }])
      ids.add(json.id)
    }
    t.equal(ids.size, 3)
    const borrowed = await stake(second.pair, bet(seat), { brand: here.sandbox })
    t.equal(code(borrowed), '404 SESSION_NOT_FOUND', "a session of another provider's game")
    t.equal(code(await stake(second.pair, bet(seat), { brand: there.sandbox })), '403 BRAND_NOT_GRANTED')
  },
)

t.test(
  'B24, A27: who is suspended takes no bet; what was begun is settled, and a repeated bet is what it was',
  async (t) => {
    const operator = await operatorOf('Stopped')
    const { operatorId, sandbox: brandId } = operator
    const { id: providerId, pair } = await providerOf('Halted', [brandId])
    await serves({ id: providerId }, 'wallet-reels')
    const seat = await seatOf(operator, 'wallet-reels')
    const at = { brand: brandId }
    const begun = JSON.parse(bet(seat))
    t.equal((await stake(pair, JSON.stringify(begun), at)).status, 200)
    const { gateway } = operations
    const grants = (grant: 'active' | 'suspended') =>
      alice.call(setProviderGrant, { input: { providerId, brandId, grant } })
    const stops = [
      [
        'OPERATOR_SUSPENDED',
        () => alice.call(gateway.suspendOperator, { input: { operatorId } }),
        () => alice.call(gateway.activateOperator, { input: { operatorId } }),
      ],
      [
        'PROVIDER_SUSPENDED',
        () => alice.call(gateway.suspendProvider, { input: { providerId } }),
        () => alice.call(gateway.activateProvider, { input: { providerId } }),
      ],
      ['PROVIDER_SUSPENDED', () => grants('suspended'), () => grants('active')],
    ] as const
    for (const [refusedWith, stop, goOn] of stops) {
      const underWay = Array.from({ length: 5 }, () => stake(pair, bet(seat), at))
      await stop()
      for (const one of await Promise.all(underWay))
        t.ok(one.status === 200 || code(one) === `403 ${refusedWith}`, 'on one side of it or the other')
      aheadMs += 1_000
      const refused = bet(seat)
      t.equal(code(await stake(pair, refused, at)), `403 ${refusedWith}`)
      t.match((await stake(pair, JSON.stringify(begun), at)).json, { replayed: true })
      const { playerId } = seat
      const { roundId } = begun
      const win = { transactionId: randomUUID(), playerId, roundId, amount: '1.00', currency: 'BRL' }
      t.equal((await ask(pair, { ...at, method: 'POST', path: '/wins', body: JSON.stringify(win) })).status, 200)
      const rollback = { transactionId: randomUUID(), betTransactionId: randomUUID(), playerId, roundId }
      t.equal(
        (await ask(pair, { ...at, method: 'POST', path: '/rollbacks', body: JSON.stringify(rollback) })).status,
        200,
      )
      await goOn()
      aheadMs += 1_000
      t.equal(code(await stake(pair, refused, at)), `403 ${refusedWith}`, 'what was refused stays so')
      t.equal((await stake(pair, bet(seat), at)).status, 200)
    }
  },
)

t.test('B36: what the team has voided is not won, over HTTP as well, and the stake is back once', async (t) => {
  const operator = await operatorOf('Voided')
  const { id, pair } = await providerOf('Broken', [operator.sandbox])
  await serves({ id }, 'wallet-reels')
  const seat = await seatOf(operator, 'wallet-reels')
  const { playerId } = seat
  const at = { brand: operator.sandbox }
  const body = bet({ ...seat, transactionId: 'staked', amount: '40.00' })
  t.match((await stake(pair, body, at)).json, { balance: '60.00' })
  const { listRounds, voidRound } = operations.wallet
  const [round] = (await alice.call(listRounds, { input: { playerId, limit: 1 } })).data
  await alice.call(voidRound, { input: { roundId: round?.id ?? '', reason: 'a case' } })
  const post = (path: string, said: object) =>
    ask(pair, { ...at, method: 'POST', path, body: JSON.stringify({ playerId, roundId: 'round-1', ...said }) })
  const win = { transactionId: 'won', amount: '500.00', currency: 'BRL' }
  for (const said of [win, win, { ...win, transactionId: 'named', betTransactionId: 'staked' }]) {
    const refused = await post('/wins', said)
    t.equal(code(refused), '409 ROUND_VOIDED')
    t.equal(refused.json.error.details.retry, 'never')
  }
  const read = await ask(pair, { ...at, path: '/transactions/win/won' })
  t.match(read.json, { outcome: 'refused', code: 'ROUND_VOIDED', amount: '0.00', roundState: 'void' })
  t.equal(code(await stake(pair, body, at)), '409 TRANSACTION_ROLLED_BACK')
  t.equal(code(await stake(pair, bet(seat), at)), '409 ROUND_VOIDED')
  const rollback = await post('/rollbacks', { transactionId: 'back', betTransactionId: 'staked' })
  t.match([rollback.status, rollback.json], [200, { applied: false, roundState: 'void', balance: '100.00' }])
  t.match((await post('/rounds/close', {})).json, { roundState: 'void', replayed: true, balance: '100.00' })
})

t.test('A13, A14: reserved amounts answer 503 once, after the bet was booked or before', async (t) => {
  const operator = await operatorOf('Reserved')
  const provider = await providerOf('Patient', [operator.sandbox])
  await serves(provider, 'wallet-reels')
  const seat = await seatOf(operator, 'wallet-reels')
  for (const [amount, replayed] of [
    [sandboxPlayAmounts.failsAfter, true],
    [sandboxPlayAmounts.failsBefore, false],
  ] as const) {
    const body = bet({ ...seat, amount })
    const [first, again] = [
      await stake(provider.pair, body, { brand: operator.sandbox }),
      await stake(provider.pair, body, { brand: operator.sandbox }),
    ]
    t.equal(code(first), '503 SERVICE_UNAVAILABLE')
    t.match([again.status, again.json], [200, { amount, replayed }])
  }
})

const placeBet = { operation: operations.players.placeBet, credential: { scope: bed.scope() } } as unknown as Access

t.test('A15: another is answered six seconds late, once', async (t) => {
  const waits: number[] = []
  const setTimeout = (run: () => void, ms: number) => {
    waits.push(ms)
    run()
  }
  const around = aroundStakes({ setTimeout } as unknown as Timers)
  const late = { amount: sandboxPlayAmounts.late, transactionId: 'late' }
  for (let attempt = 1; attempt <= 2; attempt++)
    t.equal(String(await around(placeBet, late, async () => Buffer.from('booked'))), 'booked')
  t.same(waits, [6_000])
})

t.test('B49: of the bets of one brand that wait together some are refused, and wins go through', async (t) => {
  const around = aroundStakes(systemTimers)
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  const flood = Array.from({ length: 500 }, () => around(placeBet, {}, () => promise).catch(({ code }) => code))
  const win = { ...placeBet, operation: operations.wallet.creditWin } as Access
  t.equal(String(await around(win, {}, async () => Buffer.from('won'))), 'won')
  const elsewhere = { ...placeBet, credential: { scope: bed.scope({ brandId: 'brd_other' }) } } as Access
  t.equal(String(await around(elsewhere, {}, async () => Buffer.from('bet'))), 'bet')
  resolve(Buffer.from('bet'))
  const answers = await Promise.all(flood)
  t.equal(answers.filter((answer) => answer === 'SERVICE_UNAVAILABLE').length, 100)
  t.equal(String(await around(placeBet, {}, async () => Buffer.from('bet'))), 'bet', 'then there is room')
})

t.test('the media type is judged before the body, a body has 8 KiB, and each fault of it is named', async (t) => {
  const headers = { 'Content-Type': 'text/plain' }
  t.equal(code(await stake(two.pair, '{', { headers })), '415 UNSUPPORTED_MEDIA_TYPE')
  t.equal(code(await stake(two.pair, bet({ note: 'x'.repeat(8 * 1_024) }))), '413 PAYLOAD_TOO_LARGE')
  for (const amount of ['0.005', '1e2', '-1.00', 1, '1.', '1,00'])
    t.match((await stake(two.pair, bet({ amount }))).json.error, {
      details: { in: 'body', issues: [{ path: '/amount' }] },
    })
  const twice = bet().replace('{', '{"amount":"2.00",')
  t.match((await stake(two.pair, twice)).json.error.details, { issues: [{ message: 'the field appears twice' }] })
  const { details } = (await stake(two.pair, bet({ note: 'x', roundId: '' }))).json.error
  t.same(details.issues.map(({ path }: { path: string }) => path).sort(), ['/note', '/roundId'])
})

t.test('B41: ids with every odd character are booked, and read back by path and query', async (t) => {
  const operator = await operatorOf('Odd')
  const { id, pair } = await providerOf('Strange', [operator.sandbox])
  await serves({ id }, 'wallet-reels')
  const seat = await seatOf(operator, 'wallet-reels')
  const at = { brand: operator.sandbox }
  const odd = String.fromCharCode(...Array.from({ length: 0x7f - 0x21 }, (_, index) => 0x21 + index))
  for (const transactionId of [odd, '%'.repeat(128), '/../..', `'"; --`.replace(' ', '')]) {
    const body = bet({ ...seat, transactionId, roundId: transactionId, amount: '0.01' })
    t.match((await stake(pair, body, at)).json, { transactionId, roundId: transactionId, replayed: false })
    t.match((await stake(pair, body, at)).json, { replayed: true })
    const encoded = encodeURIComponent(transactionId)
    const read = await ask(pair, { ...at, path: `/transactions/bet/${encoded}` })
    t.match(read.json, { transactionId, roundId: transactionId, outcome: 'posted', amount: '0.01' })
    const { data } = (await ask(pair, { ...at, path: `/rounds?roundId=${encoded}` })).json
    t.match(data, [{ roundId: transactionId, staked: '0.01' }])
  }
  const foreign = await ask(two.pair, { path: '/transactions/bet/%C3%A9' })
  t.equal(code(foreign), '422 VALIDATION_ERROR')
})

t.test('other paths and methods are refused before any signature; HEAD is signed as HEAD', async (t) => {
  const bare = async (path: string, method: 'GET' | 'PUT' | 'OPTIONS') => {
    const { statusCode, headers, body } = await request(`${providerUrl}/${acme.sandbox}${path}`, { method })
    const json = (await body.json()) as Answer['json']
    t.type(json.error.details.retry, 'string')
    return [statusCode, headers.allow]
  }
  t.same(await bare('/bets', 'GET'), [405, 'POST'])
  t.same(await bare('/rounds', 'PUT'), [405, 'GET, HEAD'])
  t.same(await bare('/wins', 'OPTIONS'), [405, 'POST'])
  t.same(await bare('/nope', 'GET'), [404, undefined])
  t.same(await bare('//bets', 'GET'), [404, undefined])
  t.equal((await ask(one.pair, { method: 'HEAD' })).status, 404)
  const broken = await exchange(Number(new URL(providerUrl).port), 'GET / HTTP/9.9\r\n\r\n')
  t.match(broken, /^HTTP\/1\.1 400 [\s\S]*"retry":"never"/)
})

t.test('a process for providers alone has a broker user that passes on what they call, and nothing else', async (t) => {
  const environment = { SURFACES: 'providers', NATS_USER: 'providers', NATS_PASSWORD: natsPassword('providers') }
  const config = loadConfig(gateway.configuration, { ...bed.environment('gateway'), ...environment })
  const alone = await startService(gateway, config as never)
  t.teardown(() => alone.drain())
  t.equal(alone.addresses.baseUrl, '')
  t.equal(code(await ask(one.pair, { to: alone.addresses.providerUrl })), letIn)
  const scope = bed.scope()
  const refused = alone.rpc.call(operations.players.listGames, { scope, input: {} })
  await t.rejects(refused, { code: 'SERVICE_UNAVAILABLE', cause: { operation: 'publish' } })
  t.ok(providerOperations.length > 0)
})
