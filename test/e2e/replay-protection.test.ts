import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { type HttpReply, OperatorClient, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { expectStatus, fund, register } from '../journey.ts'
import { services } from '../services.ts'

const bed = await testBed(t, services)
const first = bed.services.gateway.addresses.baseUrl
const second = (await bed.start('gateway')).addresses.baseUrl
const alice = bed.team('alice')
const { createOperator, setReplayProtection } = operations.gateway

interface Customer {
  /** The operator's servers: one for each replica of the gateway. */
  readonly servers: readonly [OperatorClient, OperatorClient]
  readonly playerId: string
}

/** An operator with a player who has money and may play. */
async function newCustomer(): Promise<Customer> {
  const { operatorId, sandbox } = await alice.call(createOperator, {
    input: { name: randomUUID(), rateLimitPerMinute: 100_000 },
  })
  // It is off at first.
  await alice.call(setReplayProtection, { input: { operatorId, replayProtection: 'on' } })
  const pair = { key: sandbox.key, secret: sandbox.secret ?? '' }
  const servers = [new OperatorClient(first, pair), new OperatorClient(second, pair)] as const
  t.teardown(() => Promise.all(servers.map((server) => server.close())))
  const { id: playerId } = await register(servers[0])
  expectStatus(await servers[0].post(`/sandbox/players/${playerId}/kyc/decision`, { status: 'aprovado' }), 200)
  await fund(servers[0], playerId, '1000.00')
  return { servers, playerId }
}

const withdrawal = { amount: '100.00', currency: 'BRL', method: 'pix', destination: 'ana@example.com' }

/** A request with one signature, as somebody captured it: it can be sent with any Idempotency-Key. */
function captured(path: string, body?: unknown) {
  const timestamp = Math.floor(Date.now() / 1_000)
  return (server: OperatorClient, idempotencyKey: string | null): Promise<HttpReply> =>
    server.send('POST', path, { timestamp, idempotencyKey, ...(body === undefined ? {} : { body }) })
}

const outcome = ({ status, body }: HttpReply) => (status < 400 ? String(status) : `${status} ${body.error.code}`)
const conflict = '409 IDEMPOTENCY_CONFLICT'

t.test('with replay protection a captured request has no effect under another key, on any replica', async (t) => {
  const { servers, playerId } = await newCustomer()
  const [one, other] = servers
  const again = captured(`/players/${playerId}/withdrawals`, withdrawal)
  const key = randomUUID()
  const original = await again(one, key)
  t.equal(original.status, 201)
  for (const server of [one, other, one]) {
    const refused = await again(server, randomUUID())
    t.equal(outcome(refused), conflict)
    t.equal(refused.headers['retry-after'], '1')
    t.strictSame(refused.body.error.details, { signature: 'used' })
  }
  const replay = await again(other, key)
  t.equal(replay.headers['idempotent-replayed'], 'true', 'the same key gets the stored reply')
  t.same(replay.bytes, original.bytes)
  const timestamp = Math.floor(Date.now() / 1_000)
  for (const server of [one, other, one])
    t.equal(
      (await server.get(`/players/${playerId}/wallet`, { timestamp })).status,
      200,
      'a read may be repeated as it is',
    )
  t.equal(expectStatus(await one.get(`/players/${playerId}/wallet`), 200).withdrawable, '900.00')
})

t.test('with replay protection requests without a key are accepted once', async (t) => {
  const { servers, playerId } = await newCustomer()
  const [one, other] = servers
  for (const [path, body] of [
    [`/players/${playerId}/game-sessions`, { gameId: 'fortune-reels' }],
    ['/webhooks/test', undefined],
    [`/sandbox/players/${playerId}/kyc/decision`, { status: 'expirado' }],
  ] as const) {
    const again = captured(path, body)
    t.not(outcome(await again(one, null)), conflict, path)
    for (const [server, key] of [
      [one, null],
      [other, null],
      [one, randomUUID()],
    ] as const)
      t.equal(outcome(await again(server, key)), conflict, path)
  }
})
