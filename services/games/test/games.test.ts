import { randomBytes, randomUUID } from 'node:crypto'
import { createConnection } from 'node:net'
import { fromMinorUnits, operations, toMinorUnits } from '@backoffice/contracts'
import { answeredAsFaults, eventually } from '@backoffice/test-kit'
import t from 'tap'
import { demonstration, lineOf, payout, stopsOf, symbolAt, walletReels } from '../src/domain/slot.ts'
import { gamesBed } from './games-bed.ts'

const { bed, scope, start, newPlayer, open } = await gamesBed(t)
const admin = bed.sql('admin')

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
/** In the shape of a token of ours. */
const guess = () => randomBytes(24).toString('base64url')
const session = (url: string, token: string) => fetch(`${url}/play/session`, { headers: bearer(token) })
const statusOf = async (reply: Promise<Response>) => {
  const { status, body } = await reply
  await body?.cancel()
  return status
}

t.test('a demonstration is played on the server: it draws, books, and refuses what it cannot take', async (t) => {
  const url = await start(t)
  const { token } = await open(await newPlayer())
  const play = (stake: unknown, as: Record<string, string> = bearer(token)) =>
    fetch(`${url}/play/spin`, {
      method: 'POST',
      headers: { ...as, 'Content-Type': 'application/json' },
      body: JSON.stringify({ stake }),
    })
  const first = await (await session(url, token)).json()
  t.match(first, {
    name: 'Fortune Reels',
    balance: '1000.00',
    stakes: [{ value: 100, label: '1.00' }],
    symbols: [{ name: 'gem', pays: 200 }],
    pairPays: 8,
  })
  let balance = 100_000n
  for (let count = 0; count < 40; count++) {
    const spin = (await (await play(500)).json()) as { win: string; balance: string }
    balance += toMinorUnits(spin.win) - 500n
    t.equal(spin.balance, fromMinorUnits(balance))
  }
  t.equal(await statusOf(play(7)), 422)
  t.equal(await statusOf(play('500')), 422)
  t.equal(await statusOf(play(500, bearer(guess()))), 401)
  await admin.query('update players.game_session set demo_balance = 0')
  t.equal(await statusOf(play(500)), 409)
})

t.test("whatever method, path and form of a body: what is wrong with it is the client's, and no fault", async (t) => {
  const url = await start(t, { GAMES_REQUESTS_PER_MINUTE: '100000' })
  const paths = ['/play/spin', '/play/session', '/demo/x', '/nope', '/%zz', `/demo/${'x'.repeat(300)}`]
  t.same((await answeredAsFaults(url, paths)).slice(0, 10), [])
})

t.test('what cannot be a token is refused without a query, and a guess after one', async (t) => {
  const url = await start(t)
  await eventually(async () => (await statusOf(fetch(`${url}/thumbnails/star-miner.svg`))) === 200)
  const client = await admin.connect()
  t.teardown(() => client.release())
  await client.query('begin; lock table players.game_session in access exclusive mode')
  for (const token of ['', 'guess', `${guess()}x`, guess().replace(/./, '*'), `${guess()} ${guess()}`])
    t.equal(await statusOf(session(url, token)), 401, token)
  t.equal(await statusOf(fetch(`${url}/play/session`)), 401)
  const asked = statusOf(session(url, guess()))
  await eventually(async () => (await activeConnections()) === 1)
  await client.query('rollback')
  t.equal(await asked, 401)
})

t.test('thumbnails come from memory, may be kept for an hour, and what is no game is 404', async (t) => {
  const url = await start(t)
  await eventually(async () => (await statusOf(fetch(`${url}/thumbnails/star-miner.svg`))) === 200)
  const client = await admin.connect()
  t.teardown(() => client.release())
  await client.query('begin; lock table players.game in access exclusive mode')
  const { rows } = await client.query('select id, name from players.game')
  t.ok(rows.length >= 8)
  for (const { id, name } of rows) {
    const reply = await fetch(`${url}/thumbnails/${id}.svg`)
    t.match(Object.fromEntries(reply.headers), {
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=3600',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy': /^default-src 'none'/,
    })
    t.match(await reply.text(), `>${name}</text>`)
  }
  for (const file of ['unknown.svg', '%00.svg', '__proto__.svg', 'a%2Fb.svg'])
    t.equal(await statusOf(fetch(`${url}/thumbnails/${file}`)), 404, file)
  await client.query('rollback')
})

t.test('a browser asks each time for the page and its files, and gets those that changed', async (t) => {
  const url = await start(t)
  for (const path of ['/demo/star-miner', '/assets/demo.js', '/assets/words.js', '/assets/demo.css']) {
    const { status, headers } = await fetch(url + path)
    t.equal(status, 200, path)
    t.equal(headers.get('cache-control'), 'no-cache')
    const etag = headers.get('etag') ?? ''
    // Without a cache of its own, fetch says what it is told to say.
    const again = (named: string) => fetch(url + path, { cache: 'no-store', headers: { 'If-None-Match': named } })
    for (const named of [etag, `W/${etag}`, `"other", ${etag}`]) t.equal(await statusOf(again(named)), 304, named)
    t.equal(await statusOf(again('"of-another-release"')), 200)
  }
})

t.test('beyond its requests of a minute an address gets 429, whatever it asks for, and others do not', async (t) => {
  const url = await start(t, { GAMES_REQUESTS_PER_MINUTE: '5', TRUSTED_PROXIES: '127.0.0.1' })
  const from = (address: string, path: string) =>
    fetch(`${url}${path}`, { headers: { 'X-Forwarded-For': address, ...bearer(guess()) } })
  const paths = ['/play/session', '/demo/star-miner', '/assets/demo.js', '/no/such/path', '/play/session']
  for (const path of paths) t.not(await statusOf(from('2001:db8:1:2::1', path)), 429, path)
  // One customer has all addresses of a /64.
  for (const path of new Set(paths)) {
    const reply = await from('2001:db8:1:2:ffff::1', path)
    t.equal(reply.status, 429, path)
    const waitSeconds = Number(reply.headers.get('retry-after'))
    t.ok(waitSeconds >= 1 && waitSeconds <= 60)
    t.notOk(reply.headers.has('x-ratelimit-limit'))
    t.same(await reply.json(), { error: 'limited' })
  }
  t.equal(await statusOf(from('2001:db8:1:3::1', '/play/session')), 401)
  t.equal(await statusOf(from('192.0.2.7', '/play/session')), 401)
})

t.test('who is no trusted proxy is counted by its own address, whatever it says', async (t) => {
  const url = await start(t, { GAMES_REQUESTS_PER_MINUTE: '1' })
  const from = (address: string) => fetch(`${url}/assets/demo.css`, { headers: { 'X-Forwarded-For': address } })
  t.equal(await statusOf(from('192.0.2.1')), 200)
  t.equal(await statusOf(from('192.0.2.2')), 429)
})

t.test('beyond its connections an address gets no further one, until one of them ends', async (t) => {
  const url = await start(t, { GAMES_CONNECTIONS_PER_ADDRESS: '3' })
  const connect = () => {
    const socket = createConnection(Number(new URL(url).port), '127.0.0.1')
    t.teardown(() => socket.destroy())
    socket.on('error', () => {})
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    const ended = new Promise<string>((resolve) => socket.on('close', () => resolve(text)))
    return { socket, ended, text: () => text }
  }
  const request = 'GET /assets/demo.css HTTP/1.1\r\nHost: games\r\n\r\n'
  const open = [connect(), connect(), connect()]
  for (const { socket } of open) socket.write(request)
  await eventually(() => open.every(({ text }) => text().startsWith('HTTP/1.1 200')))
  const further = connect()
  further.socket.write(request)
  t.equal(await further.ended, '', 'closed without a word')
  open[0]?.socket.destroy()
  const reply = () => statusOf(fetch(`${url}/assets/demo.css`)).catch(() => 0)
  await eventually(async () => (await reply()) === 200)
})

const activeConnections = async (role = 'backoffice_games'): Promise<number> => {
  const { rows } = await admin.query(
    `select count(*)::int as active from pg_stat_activity
      where usename = $1 and datname = current_database() and wait_event_type = 'Lock'`,
    [role],
  )
  return rows[0].active
}

t.test('400 connections that ask for sessions hold four of PostgreSQL, and no deposit waits for them', async (t) => {
  const url = await start(t, { GAMES_CONNECTIONS_PER_ADDRESS: '1000', DATABASE_POOL_MAX: '4' })
  const playerId = await newPlayer()
  await eventually(async () => (await statusOf(fetch(`${url}/thumbnails/star-miner.svg`))) === 200)
  const client = await admin.connect()
  t.teardown(() => client.release())
  // Their queries never end, so whatever the games share with the services would be used up.
  await client.query('begin; lock table players.game_session in access exclusive mode')
  const asked = Array.from({ length: 400 }, () => statusOf(session(url, guess())))
  await eventually(async () => (await activeConnections()) === 4)

  const request = { playerId, amount: '1.00', currency: 'BRL', method: 'pix', externalReference: randomUUID() }
  const deposit = await bed.rpc.call(operations.payments.createDeposit, { scope, input: request })
  t.equal(deposit.status, 'pending')
  t.ok((await activeConnections()) <= 4)
  await client.query('rollback')
  const statuses = await Promise.all(asked)
  t.same(
    statuses.filter((status) => status !== 401 && status !== 503),
    [],
    'each gets an answer: there is no such session, or it waited for a connection for too long',
  )
})

t.test('its role finds a demonstration by its token, and learns nothing else', async (t) => {
  const games = bed.sql('games')
  await open(await newPlayer())
  await t.resolves(games.query('select token_sha256, game_id, demo_balance, expires_at from players.game_session'))
  const refused = [
    'select player_id from players.game_session',
    'select game_url from players.game_session',
    'select cpf from players.player',
    'select * from players.kyc_submission',
    'select * from players.operation',
    'select * from players.outbox',
    'select * from players.published_event',
    "update players.game_session set expires_at = 'infinity'",
    'delete from players.game_session',
    'insert into players.game_session default values',
    'update players.game set rtp = 0',
    'select * from payments.deposit',
    'select * from wallet.account',
    'create table players.mine (id int)',
  ]
  for (const statement of refused) await t.rejects(games.query(statement), { code: '42501' }, statement)
})

for (const [name, machine, stakesPaid, lines] of [
  ['the demonstrations return what the catalogue says: 96.12 percent', demonstration, 31_496, 32_768],
  [
    "the game of the sandbox's wallet returns what the catalogue says: 95 percent, to the line",
    walletReels,
    7_600,
    8_000,
  ],
] as const)
  t.test(`over all lines ${name}`, async (t) => {
    const reel = Array.from({ length: stopsOf(machine) }, (_, stop) => symbolAt(machine, stop))
    let paid = 0
    for (const first of reel)
      for (const second of reel) for (const third of reel) paid += payout(machine, [first, second, third])
    t.same([paid, reel.length ** 3], [stakesPaid, lines])
  })

t.test('three alike pay their symbol, two of the rarest pay as a pair, the rest pays nothing', async (t) => {
  demonstration.symbols.forEach(({ pays }, symbol) => {
    t.equal(payout(demonstration, [symbol, symbol, symbol]), pays)
  })
  t.equal(payout(demonstration, [0, 0, 4]), 8)
  t.equal(payout(demonstration, [0, 3, 0]), 8)
  t.equal(payout(demonstration, [1, 1, 4]), 0)
  t.throws(() => symbolAt(demonstration, stopsOf(demonstration)), RangeError)
})

t.test('a spin that is drawn again is the same, and who does not know the secret cannot draw it', async (t) => {
  const drawn = (secret: string) =>
    Array.from({ length: 200 }, (_, number) => lineOf(walletReels, secret, `ses_1-${number}`))
  t.same(drawn('one'), drawn('one'))
  t.notSame(drawn('one'), drawn('two'))
})

t.test('drawn lines come as often as their stops, so that what is drawn pays what the reels pay', async (t) => {
  const spins = 40_000
  const counts = walletReels.symbols.map(() => 0)
  for (let number = 0; number < spins; number++)
    for (const symbol of lineOf(walletReels, 'secret', `ses_1-${number}`)) counts[symbol] = (counts[symbol] ?? 0) + 1
  walletReels.symbols.forEach(({ weight }, symbol) => {
    const expected = (spins * 3 * weight) / stopsOf(walletReels)
    // Drawn from a fixed secret, so this cannot fail by chance: seven deviations of a fair draw.
    t.ok(Math.abs((counts[symbol] ?? 0) - expected) < 7 * Math.sqrt(expected), `symbol ${symbol}`)
  })
})
