import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { serveHttp, temporaryFolder } from '@backoffice/test-kit'
import t from 'tap'
import { type Answer, httpTransport, meaningOf, ProviderClient } from '../src/client.ts'
import { message, Provider, Store } from '../src/index.ts'
import { judgeTraffic, type Seen } from '../src/watch.ts'

const seat = { playerId: 'ply_1', sessionId: 'ses_1', gameId: 'wallet-reels', currency: 'BRL' }
const bet = message('bet', { ...seat, transactionId: 'b1', roundId: 'r1', amount: '1.00' })
const win = message('win', { playerId: 'ply_1', transactionId: 'w1', roundId: 'r1', amount: '2.00', currency: 'BRL' })
const answer = (status: number, body: unknown = {}): Answer => ({ status, retryAfter: undefined, body })
const refusal = (code: string, retry: 'never' | 'later') => ({ error: { code, details: { retry } } })

/** A client of a house that answers so, in this order; undefined: not at all. */
function clientOf(answers: (Answer | undefined)[]) {
  const sent: string[] = []
  const transport = async ({ url, body }: { readonly url: string; readonly body: string }) => {
    sent.push(`${url.split('/').at(-1)} ${JSON.parse(body).transactionId ?? ''}`)
    const next = answers.shift()
    if (next === undefined) throw new Error('silence')
    return next
  }
  const client = new ProviderClient({ url: 'http://house', brandId: 'brd_1', key: 'k', secret: 's', transport })
  return { client, sent }
}

const providerOf = (client: ProviderClient, store: Store) => {
  const waits: number[] = []
  const wait = async (ms: number) => void waits.push(ms)
  return { provider: new Provider({ client, store, wait }), waits }
}

t.test('what an answer means', async (t) => {
  t.equal(meaningOf(undefined), 'unknown')
  t.equal(meaningOf(answer(200)), 'done')
  t.equal(meaningOf(answer(503, refusal('SERVICE_UNAVAILABLE', 'later'))), 'unknown')
  t.equal(meaningOf(answer(503, refusal('WIN_HELD', 'later'))), 'later')
  t.equal(meaningOf(answer(409, refusal('BET_NOT_FOUND', 'later'))), 'later')
  t.equal(meaningOf(answer(403, refusal('RG_BLOCKED', 'never'))), 'refused')
  t.equal(meaningOf(answer(429)), 'later')
  t.equal(meaningOf(answer(418)), 'refused', 'a status of the future')
})

t.test('a bet without an answer is sent three times and then taken back until that is answered', async (t) => {
  const store = Store.open(join(temporaryFolder(t), 'store'))
  const { client, sent } = clientOf([undefined, answer(500), undefined, undefined, answer(200, { applied: false })])
  const { provider, waits } = providerOf(client, store)
  t.match(await provider.send(bet), { meaning: 'given up' })
  t.same(sent, ['bets b1', 'bets b1', 'bets b1', 'rollbacks b1', 'rollbacks b1'])
  t.same(waits, [1_000, 2_000, 1_000])
  t.same(store.owed, [])
})

t.test('a win is sent until it is answered, and the waits double up to five minutes', async (t) => {
  const store = Store.open(join(temporaryFolder(t), 'store'))
  const { client, sent } = clientOf([...Array.from({ length: 11 }, () => undefined), answer(200)])
  const { provider, waits } = providerOf(client, store)
  t.match(await provider.send(win), { meaning: 'done' })
  t.equal(sent.length, 12)
  t.same(waits.slice(-3), [256_000, 300_000, 300_000])
})

t.test('what was kept is owed by the next process, and half a line was never sent', async (t) => {
  const file = join(temporaryFolder(t), 'store')
  const first = Store.open(file)
  first.keep(bet)
  first.end(bet, { meaning: 'done' }, [win])
  first.close()
  appendFileSync(file, '{"added":[{"kind":"b')
  const second = Store.open(file)
  t.same(second.owed, [win])
  t.match(second.outcomeOf(bet), { meaning: 'done' })
  second.end(win, { meaning: 'done' })
  second.close()
  t.same(Store.open(file).owed, [])
})

t.test('a read is sent again where its connection is closed as it is used again, and a bet is not', async (t) => {
  const served = new WeakSet<object>()
  const url = await serveHttp(t, ({ socket }, response) => {
    // Every connection answers once.
    if (served.has(socket)) socket.destroy()
    else response.end('{}')
    served.add(socket)
  })
  const { send, close } = httpTransport()
  t.teardown(close)
  const call = { method: 'GET', url, headers: {}, body: '' } as const
  for (let read = 0; read < 3; read += 1) t.equal((await send(call)).status, 200)
  await t.rejects(send({ ...call, method: 'POST' }))
})

t.test('traffic proves what it shows, and a broken contract is named', async (t) => {
  const seen = (kind: Seen['kind'], body: object, status: number, result: object = {}, code?: string): Seen => ({
    ...{ atMs: 0, key: 'gp_test_1', clockOff: 0, brandId: 'brd_1', kind, path: '', bytes: JSON.stringify(body), body },
    ...{ status, code, retryAfter: undefined, result },
  })
  const round = { playerId: 'ply_1', roundId: 'r1' }
  const findings = judgeTraffic([
    seen('bet', { ...round, transactionId: 'b1', amount: '0.01' }, 503),
    seen('bet', { ...round, transactionId: 'b1', amount: '0.01' }, 200, { replayed: true, balanceAfter: '1.00' }),
    seen('close', round, 200, {}),
    seen('win', { ...round, transactionId: 'w1', amount: '2.00' }, 200, {}),
    seen('win', { ...round, transactionId: 'w2', amount: '2.00' }, 503),
  ])
  const proved = findings.filter(({ result }) => result === 'proved').map(({ number }) => number)
  t.same(proved, [1, 8, 9, 12, 13, 20, 32, 34])
  t.same(
    findings.filter(({ result }) => result === 'failed').map(({ why }) => why),
    ['win w2 was given up'],
  )
})
