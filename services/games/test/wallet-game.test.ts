import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { createServer } from 'node:tls'
import { operations, toMinorUnits } from '@backoffice/contracts'
import { ConfigurationError } from '@backoffice/process'
import { makeCertificate } from '@backoffice/test-kit'
import t from 'tap'
import { lineOf, payout, walletReels } from '../src/domain/slot.ts'
import { walletBed } from './games-bed.ts'

const { alice, network, provider, start, newPlayer, open, statement, balance, providerId } = await walletBed(t)
const url = await start(t)

// biome-ignore lint/suspicious/noExplicitAny: what the page reads
type Reply = { readonly status: number; readonly body: any }
async function ask(path: string, token: string, body?: object, to = url): Promise<Reply> {
  const reply = await fetch(`${to}${path}`, {
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  return { status: reply.status, body: await reply.json() }
}
const session = (token: string) => ask('/play/session', token)
const spin = (token: string, number: number, stake = 100) => ask('/play/spin', token, { stake, spin: number })

/** What a spin of a session wins, per stake. */
const pays = (sessionId: string, number: number) =>
  payout(walletReels, lineOf(walletReels, provider.GAMES_PROVIDER_SECRET, `${sessionId}-${number}`))

t.test('spins stake the wallet: the page, the wallet and the statement say the same', async (t) => {
  const playerId = await newPlayer()
  const { id, token } = await open(playerId)
  t.match(await session(token), {
    status: 200,
    body: { name: 'Wallet Reels', balance: '50.00', currency: 'BRL', spin: 1, pairPays: 7 },
  })
  let expected = 5_000n
  for (let number = 1; number <= 12; number++) {
    const { status, body } = await spin(token, number)
    const won = 100n * BigInt(pays(id, number))
    expected += won - 100n
    t.match({ status, ...body, balance: toMinorUnits(body.balance) }, { status: 200, spin: number + 1, isOld: false })
    t.equal(toMinorUnits(body.win), won)
    t.equal(toMinorUnits(body.balance), expected)
    t.equal(payout(walletReels, body.line), pays(id, number))
  }
  t.equal(toMinorUnits(await balance(playerId)), expected)
  const items = await statement(playerId)
  t.equal(items.filter(([type]) => type === 'BET').length, 12)
  const wins = Array.from({ length: 12 }, (_, index) => pays(id, index + 1)).filter((paid) => paid > 0)
  t.equal(items.filter(([type]) => type === 'WIN').length, wins.length)
  t.match(await session(token), { body: { spin: 13 } }, 'a page that is opened anew goes on behind them')
})

t.test('a spin whose reply is lost is sent again by itself, and taken once', async (t) => {
  const playerId = await newPlayer()
  const { id, token } = await open(playerId)
  network.sent.length = 0
  network.fault = 'reply lost'
  const asked = spin(token, 1)
  while (network.sent.length < 2) await new Promise((resolve) => setTimeout(resolve, 20))
  network.fault = 'none'
  t.match(await asked, { status: 200, body: { isOld: false, spin: 2 } })
  t.equal(new Set(network.sent).size, 1, 'the same bytes')
  t.equal(toMinorUnits(await balance(playerId)), 4_900n + 100n * BigInt(pays(id, 1)))
})

t.test('while the house is away the page is told that we are asking, and the same spin then says it', async (t) => {
  const playerId = await newPlayer()
  const { token } = await open(playerId)
  for (const fault of ['not delivered', 'reply lost'] as const) {
    const { spin: number } = (await session(token)).body
    network.fault = fault
    t.match(await spin(token, number), { status: 503, body: { error: 'asking', spin: number } })
    network.fault = 'none'
    t.match(await spin(token, number), { status: 200, body: { spin: number + 1 } })
  }
  t.equal((await statement(playerId)).filter(([type]) => type === 'BET').length, 2)
})

t.test('a number is played once: the same again moves nothing, with another stake it is told apart', async (t) => {
  const playerId = await newPlayer()
  const { token } = await open(playerId)
  const first = await spin(token, 1)
  t.match(await spin(token, 1), { status: 200, body: { ...first.body, now: String, isOld: true } })
  t.match(await spin(token, 1, 500), { status: 409, body: { error: 'elsewhere' } })
  t.equal((await statement(playerId)).filter(([type]) => type === 'BET').length, 1)
})

t.test('what refuses a spin is said in a word of the page, and its number is used', async (t) => {
  const playerId = await newPlayer('0.50')
  const { token } = await open(playerId)
  t.match(await spin(token, 1), { status: 409, body: { error: 'balance', spin: 2 } })
  t.match(await session(token), { body: { balance: '0.50', spin: 2 } })
  const { suspendProvider, activateProvider } = operations.gateway
  await alice.call(suspendProvider, { input: { providerId } })
  let number = 2
  // It holds within a second.
  for (let said = ''; said !== 'suspended'; number++) said = (await spin(token, number)).body.error
  await alice.call(activateProvider, { input: { providerId } })
  for (let said = 'suspended'; said === 'suspended'; number++) said = (await spin(token, number)).body.error
  await alice.call(operations.players.decideKyc, {
    input: { playerId, submission: null, status: 'reprovado', reason: 'a test' },
  })
  t.match(await spin(token, number), { status: 409, body: { error: 'unchecked', spin: number + 1 } })
  await alice.call(operations.players.setPlayerStatus, { input: { playerId, status: 'bloqueado', reason: 'a test' } })
  t.match(await spin(token, number + 1), { status: 409, body: { error: 'inactive' } })
  await alice.call(operations.players.selfExcludePlayer, { input: { playerId, until: null, reason: 'a test' } })
  t.match(await spin(token, number + 2), { status: 409, body: { error: 'excluded' } })
  const limited = await newPlayer()
  const other = await open(limited)
  await alice.call(operations.players.setDailyLimit, { input: { playerId: limited, dailyDepositLimit: '1.00' } })
  t.match(await spin(other.token, 1), { status: 409, body: { error: 'overLimit' } })
})

t.test('the demonstrations stake nothing, and neither takes the spins of the other', async (t) => {
  const playerId = await newPlayer()
  const { token } = await open(playerId, 'fortune-reels')
  t.match(await session(token), { body: { balance: '1000.00', pairPays: 8, spin: undefined } })
  t.match(await ask('/play/spin', token, { stake: 100 }), { status: 200 })
  t.match(await spin(token, 1), { status: 422 })
  t.match(await ask('/play/spin', (await open(playerId)).token, { stake: 100 }), { status: 422 })
  for (const wrong of [0, -1, 1.5, 1e12]) t.match(await spin(token, wrong), { status: 422 }, `${wrong}`)
  t.equal(await balance(playerId), '50.00')
})

t.test('without a key of the house the game is not served, and half a key is a fault', async (t) => {
  const { token } = await open(await newPlayer())
  const without = await start(t, {})
  t.match(await ask('/play/session', token, undefined, without), { status: 503, body: { error: 'unavailable' } })
  t.match(await ask('/play/spin', token, { stake: 100, spin: 1 }, without), { status: 503 })
  for (const name of Object.keys(provider)) {
    const { [name as keyof typeof provider]: _, ...rest } = provider
    await t.rejects(start(t, rest as Record<string, string>), ConfigurationError, name)
  }
})

t.test('over TLS the house is verified, under the authority that is named', async (t) => {
  const { certFile, keyFile } = await makeCertificate(t.testdir(), 'house')
  const { port, pathname } = new URL(provider.GAMES_PROVIDER_URL)
  const sealed = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (socket) => {
    const clear = connect(Number(port), '127.0.0.1')
    socket.pipe(clear).pipe(socket)
    socket.on('error', () => clear.destroy())
  })
  await once(sealed.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => sealed.close())
  const GAMES_PROVIDER_URL = `https://127.0.0.1:${(sealed.address() as AddressInfo).port}${pathname}`
  const { token } = await open(await newPlayer())
  const trusting = await start(t, { ...provider, GAMES_PROVIDER_URL, GAMES_PROVIDER_CA_FILE: certFile })
  t.match(await ask('/play/spin', token, { stake: 100, spin: 1 }, trusting), { status: 200, body: { spin: 2 } })
  const strange = await start(t, { ...provider, GAMES_PROVIDER_URL })
  t.match(await ask('/play/session', token, undefined, strange), { status: 503, body: { error: 'unavailable' } })
})

t.test('a key that the house refuses is an error of ours: the page says that the game is away', async (t) => {
  const { token } = await open(await newPlayer())
  const wrong = await start(t, { ...provider, GAMES_PROVIDER_SECRET: 'another' })
  t.match(await ask('/play/session', token, undefined, wrong), { status: 503, body: { error: 'unavailable' } })
  t.match(await ask('/play/spin', token, { stake: 100, spin: 1 }, wrong), {
    status: 503,
    body: { error: 'unavailable' },
  })
  t.match(await session(token), { body: { balance: '50.00', spin: 1 } })
})
