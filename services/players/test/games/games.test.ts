import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { kycStatuses, operations, playerStatuses, type Scope, sandboxGames } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { ConfigurationError, createLogger, loadConfig, newId } from '@backoffice/process'
import { eventually, newPlayer, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { GameProvider, type GameProviderOptions, providerMeasurement } from '../../src/games/game-provider.ts'
import { admitToPlay } from '../../src/games/play.ts'
import { players } from '../../src/service.ts'

type Behaviour = (response: ServerResponse, launch: { sessionId: string; gameId: string }) => void

const works: Behaviour = (response, { sessionId }) =>
  response.end(
    JSON.stringify({ gameUrl: `https://provider.example/play?s=${sessionId}`, expiresAt: '2026-03-02T14:00:00.000Z' }),
  )
let behaviour: Behaviour = works
let launches: { sessionId: string; key: string | undefined; authorization: string | undefined }[] = []

// The game provider is an outside party: a real HTTP server that fails in every way.
const provider = createServer((incoming, response) => {
  let text = ''
  incoming.on('data', (chunk) => {
    text += chunk
  })
  incoming.on('end', () => {
    const launch = JSON.parse(text)
    launches.push({
      sessionId: launch.sessionId,
      key: String(incoming.headers['idempotency-key']),
      authorization: incoming.headers.authorization,
    })
    behaviour(response, launch)
  })
})
await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', () => resolve()))
t.teardown(() => {
  provider.closeAllConnections()
  provider.close()
})

const gamesUrl = 'https://games.example.com'
const hourMs = 3_600_000
const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
const bed = await testBed(
  t,
  { players, wallet, payments },
  {
    config: {
      players: {
        GAME_PROVIDER_URL: url,
        GAME_PROVIDER_TOKEN: 'provider-token',
        GAME_PROVIDER_TIMEOUT_MS: hourMs,
        GAMES_BASE_URL: gamesUrl,
      },
    },
  },
)
const admin = bed.sql('admin')
const { registerPlayer, decideKyc, openGameSession, listGames, setGameAvailability, setDailyLimit } = operations.players
const { listGameProviders, setGameProvider } = operations.players
const sandbox = bed.scope()
const production = bed.scope({ environment: 'production', brandId: 'brd_live' })
const alice = bed.team('alice')

async function approvedPlayer(scope = sandbox): Promise<string> {
  const { id } = await bed.rpc.call(registerPlayer, { scope, input: newPlayer() })
  await alice.call(decideKyc, {
    input: { playerId: id, submission: null, status: 'aprovado', reason: 'documents match' },
  })
  return id
}
const open = (playerId: string, scope = sandbox, gameId = 'fortune-reels') =>
  bed.rpc.call(openGameSession, { scope, input: { playerId, gameId } })

t.test('the catalogue has names, providers, categories, RTP and thumbnails, and is per brand', async (t) => {
  const { data } = await bed.rpc.call(listGames, { scope: sandbox, input: {} })
  t.ok(data.length >= 8)
  for (const { id, thumbnailUrl } of data) t.equal(thumbnailUrl, `${gamesUrl}/thumbnails/${id}.svg`)
  await alice.call(setGameAvailability, { input: { brandId: sandbox.brandId, gameId: 'star-miner', available: false } })
  const after = await bed.rpc.call(listGames, { scope: sandbox, input: {} })
  t.notOk(after.data.some(({ id }) => id === 'star-miner'))
  t.ok((await bed.rpc.call(listGames, { scope: production, input: {} })).data.some(({ id }) => id === 'star-miner'))
  await t.rejects(open(await approvedPlayer(), sandbox, 'star-miner'), { code: 'GAME_NOT_FOUND' })
})

t.test("the game of the sandbox's wallet is there once it has a provider, in the sandbox alone", async (t) => {
  const gameId = 'wallet-reels'
  const offered = async (scope: Scope) =>
    (await bed.rpc.call(listGames, { scope, input: {} })).data.some(({ id }) => id === gameId)
  const playerId = await approvedPlayer()
  t.notOk(await offered(sandbox))
  await t.rejects(open(playerId, sandbox, gameId), { code: 'GAME_NOT_FOUND' })
  const serve = (providerId: string | null) => alice.call(setGameProvider, { input: { gameId, providerId } })
  await serve('prv_other')
  t.same(await serve('prv_house'), { gameId, providerId: 'prv_house' })
  const { data } = await bed.team('auditor').call(listGameProviders, { input: {} })
  t.match(data.at(-1), { gameId, name: 'Wallet Reels', studio: 'Sandbox', rtp: '95.00', providerId: 'prv_house' })
  t.match(data[0], { gameId: 'fortune-reels', providerId: null })
  t.ok(await offered(sandbox))
  t.notOk(await offered(production))
  await t.rejects(open(await approvedPlayer(production), production, gameId), { code: 'GAME_NOT_FOUND' })
  const session = await open(playerId, sandbox, gameId)
  t.match(session, { mode: 'demo', gameUrl: new RegExp(`^${gamesUrl}/demo/${gameId}#`) })
  const { rows } = await admin.query('select demo_balance from players.game_session where id = $1', [session.id])
  t.equal(rows[0].demo_balance, null, 'no fictitious balance')
  await serve(null)
  t.notOk(await offered(sandbox))
  const nobody = alice.call(setGameProvider, { input: { gameId: 'no-such-game', providerId: 'prv_house' } })
  await t.rejects(nobody, { code: 'GAME_NOT_FOUND' })
  const finance = bed.team('finance').call(setGameProvider, { input: { gameId, providerId: 'prv_house' } })
  await t.rejects(finance, { code: 'ROLE_REQUIRED' })
})

t.test('a session needs a known player, a known game, and an approved identity check', async (t) => {
  await t.rejects(open('ply_nobody', sandbox, 'no-such-game'), { code: 'PLAYER_NOT_FOUND' })
  const { id } = await bed.rpc.call(registerPlayer, { scope: sandbox, input: newPlayer() })
  await t.rejects(open(id, sandbox, 'no-such-game'), { code: 'GAME_NOT_FOUND' })
  await t.rejects(open(id), { code: 'KYC_NOT_APPROVED' })
})

t.test("a session is refused once the day's deposits exceed a limit that was lowered since", async (t) => {
  const playerId = await approvedPlayer()
  const deposit = { playerId, amount: '100', currency: 'BRL', method: 'pix', externalReference: 'limit-1' }
  await bed.rpc.call(operations.payments.createDeposit, { scope: sandbox, input: deposit })
  await alice.call(setDailyLimit, { input: { playerId, dailyDepositLimit: '100' } })
  t.ok(await open(playerId))
  await alice.call(setDailyLimit, { input: { playerId, dailyDepositLimit: '99.99' } })
  await t.rejects(open(playerId), { code: 'RG_BLOCKED' })
})

t.test('the reserved games of the sandbox show their refusals, and mean nothing in production', async (t) => {
  const playerId = await approvedPlayer()
  const { rgBlocked, selfExcluded, overLimit } = sandboxGames
  for (const [gameId, reason] of [
    [rgBlocked, 'sandbox_trigger'],
    [selfExcluded, 'self_exclusion'],
    [overLimit, 'daily_limit'],
  ] as const)
    await t.rejects(open(playerId, sandbox, gameId), { code: 'RG_BLOCKED', details: { reason } })
  await t.rejects(open(playerId, sandbox, sandboxGames.providerUnavailable), { code: 'PROVIDER_UNAVAILABLE' })
  await t.rejects(open(await approvedPlayer(production), production, sandboxGames.rgBlocked), {
    code: 'GAME_NOT_FOUND',
  })
})

t.test('in the sandbox a session is a demonstration, whose token is kept only as a digest', async (t) => {
  const session = await open(await approvedPlayer())
  t.equal(session.mode, 'demo')
  const { origin, pathname, hash } = new URL(session.gameUrl)
  t.equal(`${origin}${pathname}`, `${gamesUrl}/demo/fortune-reels`)
  const { rows } = await admin.query(
    `select json_agg(s)::text || (select json_agg(o)::text from players.operation o) as everything from players.game_session s`,
  )
  t.notMatch(rows[0].everything, hash.slice(1))
})

t.test('in production the provider is asked, with the session id as its idempotency key', async (t) => {
  const playerId = await approvedPlayer(production)
  launches = []
  const session = await open(playerId, production)
  t.match(session, {
    mode: 'real',
    gameUrl: `https://provider.example/play?s=${session.id}`,
    expiresAt: '2026-03-02T14:00:00.000Z',
  })
  t.strictSame(launches, [{ sessionId: session.id, key: session.id, authorization: 'Bearer provider-token' }])
})

t.test(
  "the provider's URL lets anybody play, so it is kept only as a digest, and a replay does not show it",
  async (t) => {
    const input = { playerId: await approvedPlayer(production), gameId: 'fortune-reels' }
    const call = { scope: production, input, operationId: newId('opn') }
    const { id, gameUrl } = await bed.rpc.call(openGameSession, call)
    t.equal(gameUrl, `https://provider.example/play?s=${id}`)
    const { rows } = await admin.query(
      `select s.game_url, (select json_agg(s)::text from players.game_session s) as sessions,
        (select json_agg(o)::text from players.operation o) as operations
      from players.game_session s where id = $1`,
      [id],
    )
    t.notMatch(rows[0].sessions, 'provider.example')
    t.notMatch(rows[0].operations, 'provider.example')
    const kept = `sha256:${createHash('sha256').update(gameUrl).digest('hex')}`
    t.equal(rows[0].game_url, kept)
    await t.rejects(bed.rpc.call(openGameSession, call), { code: 'SERVICE_UNAVAILABLE' })
  },
)

const launch = { sessionId: 'ses_1', gameId: 'star-miner', playerId: 'ply_1', brandId: 'brd_1', currency: 'BRL' }
const refused = { code: 'PROVIDER_UNAVAILABLE' }

/** A client of the provider with a circuit of its own, whose limits nothing reaches by itself. */
function providerWith(options: Partial<GameProviderOptions> = {}) {
  const [log, limits] = [createLogger('players', 'silent'), { timeoutMs: hourMs, openMs: hourMs }]
  const client = new GameProvider({ url, token: undefined, ...limits, allowHttp: false, log, ...options })
  return { client, open: () => client.launch(launch, new Date(Date.now() + 2 * hourMs)) }
}

t.test('outside development a session without TLS is refused: its URL is all that it takes to play', async (t) => {
  const answer = (gameUrl: string) => {
    behaviour = (response) => response.end(JSON.stringify({ gameUrl, expiresAt: '2026-03-02T14:00:00.000Z' }))
  }
  answer('http://provider.example/play')
  await t.rejects(providerWith().open(), refused)
  t.match(await providerWith({ allowHttp: true }).open(), { gameUrl: 'http://provider.example/play' })
  answer('https://provider.example/play')
  t.match(await providerWith().open(), { gameUrl: 'https://provider.example/play' })
})

t.test('a launch that the provider refuses is asked once, and does not open the circuit for others', async (t) => {
  const { open } = providerWith()
  launches = []
  behaviour = (response) => response.writeHead(422).end('{}')
  for (let count = 0; count < 6; count++) await t.rejects(open(), refused)
  t.equal(launches.length, 6)
  behaviour = works
  t.ok(await open())
})

t.test('after a first failure the launch is repeated with the same session id', async (t) => {
  launches = []
  behaviour = (response, asked) => (launches.length === 1 ? response.destroy() : works(response, asked))
  t.ok(await providerWith().open())
  t.strictSame(
    launches.map(({ key }) => key),
    [launch.sessionId, launch.sessionId],
  )
})

/** Ends the attempt that the provider was asked by. */
let timeIsOver = () => {}
const failures: readonly [string, Behaviour][] = [
  ['a 500', (response) => response.writeHead(500).end('{}')],
  ['HTML', (response) => response.end('<html>')],
  ['another shape', (response) => response.end('{"gameUrl":"javascript:alert(1)","expiresAt":"soon"}')],
  ['a reset', (response) => response.destroy()],
  ['nothing at all', () => timeIsOver()],
  [
    'a slow drip',
    (response) => {
      let drops = 0
      const timer = setInterval(() => {
        response.write(' ')
        drops += 1
        if (drops === 3) timeIsOver()
      }, 20)
      response.on('close', () => clearInterval(timer))
    },
  ],
  ['too much', (response) => response.end('x'.repeat(100_000))],
  ['a redirect', (response) => response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end()],
]
for (const [name, failure] of failures) {
  t.test(`a provider that answers with ${name} is asked twice, and the answer is PROVIDER_UNAVAILABLE`, async (t) => {
    const timeout = (ms: number) => {
      const timer = new AbortController()
      if (ms === hourMs) timeIsOver = () => timer.abort()
      return timer.signal
    }
    t.intercept(AbortSignal, 'timeout', { value: timeout })
    behaviour = failure
    launches = []
    await t.rejects(providerWith().open(), refused)
    t.equal(launches.length, 2)
  })
}

t.test('an operator is told PROVIDER_UNAVAILABLE, and no session is recorded', async (t) => {
  const playerId = await approvedPlayer(production)
  behaviour = (response) => response.writeHead(500).end('{}')
  await t.rejects(open(playerId, production), refused)
  const { rows } = await admin.query('select from players.game_session where player_id = $1', [playerId])
  t.same(rows, [])
  behaviour = works
})

t.test('after five failures in a row nobody is asked; later one launch is tried, and closes the circuit', async (t) => {
  const { client, open } = providerWith()
  const { read } = providerMeasurement(client)
  const gauge = async () => (await read())['backoffice.provider.breaker_open']
  behaviour = (response) => response.writeHead(503).end()
  launches = []
  t.strictSame(await gauge(), [{ value: 0 }])
  for (let call = 0; call < 4; call++) await t.rejects(open(), refused)
  t.equal(launches.length, 5)
  t.strictSame(await gauge(), [{ value: 1 }])
  const forgiving = providerWith({ openMs: 1 })
  for (let call = 0; call < 4; call++) await t.rejects(forgiving.open(), refused)
  behaviour = works
  t.ok(await eventually(forgiving.open), 'it recovers by itself')
})

t.test(
  'the team reads which games a player opened, newest first and page by page, without their addresses',
  async (t) => {
    const playerId = await approvedPlayer(production)
    const opened = []
    for (const gameId of ['fortune-reels', 'crystal-cave', 'fortune-reels'])
      opened.push(await open(playerId, production, gameId))
    await open(await approvedPlayer(production), production)
    const support = bed.team('support')
    const list = (input: { before?: string; limit: number }) =>
      support.call(operations.players.listGameSessions, { input: { playerId, ...input } })
    const { data, nextCursor } = await list({ limit: 2 })
    const ids = opened.map(({ id }) => id).reverse()
    t.same(
      data.map(({ id }) => id),
      ids.slice(0, 2),
    )
    t.match(data[1], {
      playerId,
      brandId: production.brandId,
      gameId: 'crystal-cave',
      gameName: 'Crystal Cave',
      mode: 'real',
    })
    t.notMatch(JSON.stringify(data), /gameUrl|sha256/)
    const last = await list({ limit: 2, before: nextCursor ?? '' })
    t.match(last, { data: [{ id: ids[2], gameId: 'fortune-reels' }], nextCursor: null })
    t.equal(last.data.length, 1)
    await admin.query("delete from players.game where id = 'crystal-cave'")
    t.match((await list({ limit: 3 })).data[1], { gameId: 'crystal-cave', gameName: null })
    const unknown = support.call(operations.players.listGameSessions, { input: { playerId: 'ply_nobody', limit: 1 } })
    await t.rejects(unknown, { code: 'PLAYER_NOT_FOUND' })
    const integration = bed
      .team('integration')
      .call(operations.players.listGameSessions, { input: { playerId, limit: 1 } })
    await t.rejects(integration, { code: 'ROLE_REQUIRED' })
  },
)

t.test('outside development it does not start before it is told where browsers reach its games', async (t) => {
  const environment = { DATABASE_URL: 'postgres://127.0.0.1/backoffice', NATS_URL: 'nats://127.0.0.1' }
  const check = (own: Record<string, string>) =>
    players.assertSettings?.(loadConfig(players.configuration, { ...environment, ...own }) as never)
  t.throws(() => check({}), ConfigurationError)
  t.doesNotThrow(() => check({ DEVELOPMENT: 'true' }))
  t.doesNotThrow(() => check({ GAMES_BASE_URL: 'https://games.example' }))
})

const eligible = { status: 'ativo', kycStatus: 'aprovado', dailyLimit: null, dayDeposits: 0n } as const

t.test('play needs an active player with an approved identity check', async (t) => {
  t.doesNotThrow(() => admitToPlay(eligible))
  for (const status of playerStatuses) {
    const code = status === 'autoexcluido' ? 'RG_BLOCKED' : 'PLAYER_NOT_ACTIVE'
    if (status !== 'ativo') t.throws(() => admitToPlay({ ...eligible, status }), { code }, status)
  }
  for (const kycStatus of kycStatuses) {
    if (kycStatus !== 'aprovado')
      t.throws(() => admitToPlay({ ...eligible, kycStatus }), { code: 'KYC_NOT_APPROVED' }, kycStatus)
  }
})

t.test('refusals come in order: self-exclusion, status, KYC, daily limit', async (t) => {
  const worst = { status: 'autoexcluido', kycStatus: 'nao_iniciado', dailyLimit: 1n, dayDeposits: 2n } as const
  t.throws(() => admitToPlay(worst), { code: 'RG_BLOCKED', details: { reason: 'self_exclusion' } })
  t.throws(() => admitToPlay({ ...worst, status: 'suspenso' }), { code: 'PLAYER_NOT_ACTIVE' })
  t.throws(() => admitToPlay({ ...worst, status: 'ativo' }), { code: 'KYC_NOT_APPROVED' })
  t.throws(() => admitToPlay({ ...worst, status: 'ativo', kycStatus: 'aprovado' }), {
    code: 'RG_BLOCKED',
    details: { reason: 'daily_limit' },
  })
})
