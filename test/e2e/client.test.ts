import { randomUUID } from 'node:crypto'
import { BackOfficeClient, BackOfficeError, ConnectionError, type ResponseEvent } from '@backoffice/client'
import { operations } from '@backoffice/contracts'
import { eventually, sharedSystem } from '@backoffice/test-kit'
import t from 'tap'
import { playerRequest } from '../journey.ts'
import { startLossyNetwork } from './lossy-network.ts'

const system = await sharedSystem(t)
const credentials = system.operators[0]?.sandbox ?? { key: '', secret: '' }
const network = await startLossyNetwork(t, system.baseUrl)
const client = new BackOfficeClient({ baseUrl: network.baseUrl, ...credentials, retryDelayMs: 10 })

t.test('answers that are lost are asked for again under the same key, and the effect happens once', async (t) => {
  const player = await client.registerPlayer(playerRequest())
  const deposit = await client.createDeposit(player.id, {
    amount: '25.00',
    currency: 'BRL',
    method: 'pix',
    externalReference: `lost-${Date.now()}`,
  })
  network.lose(3)
  const confirmed = await client.confirmDeposit(deposit.id)
  t.equal(network.losses, 0, 'three answers were lost')
  t.equal(confirmed.status, 'confirmed')
  t.equal((await client.getWallet(player.id)).available, '25.00')
  const items: string[] = []
  for await (const item of client.transactions(player.id, { pageSize: 1 })) items.push(item.amount)
  t.strictSame(items, ['25.00'])
})

t.test(
  'a refusal that follows a lost answer says that the outcome is unknown, and the key finds it later',
  async (t) => {
    const team = await system.asTeam('alice')
    const input = { name: `Suspended ${randomUUID().slice(0, 8)}` }
    const { operatorId, sandbox } = await team.call(operations.gateway.createOperator, { input })
    const own = { key: sandbox.key, secret: sandbox.secret ?? '' }
    const direct = new BackOfficeClient({ baseUrl: system.baseUrl, ...own })
    const player = await direct.registerPlayer(playerRequest())
    const payment = { amount: '25.00', currency: 'BRL', method: 'pix', externalReference: 'lost-then-refused' }
    const { id } = await direct.createDeposit(player.id, payment)

    const codeOf = () => direct.me().then(String, ({ code }) => code)
    let attempts = 0
    const through = new BackOfficeClient({
      ...{ ...own, baseUrl: network.baseUrl, retryDelayMs: 10 },
      // Somebody suspends the operator before the second attempt.
      async fetch(url, init) {
        attempts += 1
        if (attempts === 2) {
          await team.call(operations.gateway.suspendOperator, { input: { operatorId, reason: 'test' } })
          await eventually(async () => (await codeOf()) === 'OPERATOR_SUSPENDED', 20_000)
        }
        return fetch(url, init)
      },
    })
    network.lose(1, /confirm HTTP/)
    const idempotencyKey = 'lost-then-refused:confirm'
    const error = await through.confirmDeposit(id, { idempotencyKey }).catch((error) => error)
    t.ok(error instanceof ConnectionError)
    t.match(error, { retryable: true, idempotencyKey, cause: { code: 'OPERATOR_SUSPENDED', status: 403 } })
    t.equal(attempts, 2)

    await team.call(operations.gateway.activateOperator, { input: { operatorId, reason: 'test' } })
    await eventually(async () => (await codeOf()) !== 'OPERATOR_SUSPENDED', 20_000)
    const { data, replayed } = await through.confirmDeposit(id, { idempotencyKey }).withResponse()
    t.match({ ...data, replayed }, { status: 'confirmed', replayed: true }, 'the first attempt had been carried out')
    t.equal((await direct.getWallet(player.id)).available, '25.00')
  },
)

t.test('what has no key is not repeated when its answer is lost', async (t) => {
  const player = await client.registerPlayer(playerRequest())
  network.lose(1)
  await t.rejects(client.decideKyc(player.id, 'aprovado'), ConnectionError)
  t.equal((await client.getKyc(player.id)).kycStatus, 'aprovado', 'the outcome was unknown, and it was done')
})

t.test('beside the record stands the request id, and whether the reply is a stored one', async (t) => {
  const heard: { route: string; requestId: string | undefined; replayed: boolean }[] = []
  const onResponse = ({ route, requestId, replayed }: ResponseEvent) => heard.push({ route, requestId, replayed })
  const observed = new BackOfficeClient({ baseUrl: system.baseUrl, ...credentials, onResponse })
  const idempotencyKey = randomUUID()
  const player = playerRequest()
  const first = await observed.registerPlayer(player, { idempotencyKey }).withResponse()
  const again = await observed.registerPlayer(player, { idempotencyKey }).withResponse()
  t.match(first, { status: 201, requestId: /^req_/, replayed: false })
  t.match(again, { status: 201, requestId: /^req_/, replayed: true, data: first.data })
  const route = '/players'
  t.same(heard, [
    { route, requestId: first.requestId, replayed: false },
    { route, requestId: again.requestId, replayed: true },
  ])
})

t.test('the details of an error are those of its code', async (t) => {
  const player = playerRequest()
  const { id } = await client.registerPlayer(player)
  const error = await client.registerPlayer(player).catch((error: unknown) => error)
  if (!(error instanceof BackOfficeError) || error.code !== 'PLAYER_ALREADY_EXISTS') return t.fail(String(error))
  t.equal(error.details.playerId, id)
})

t.test("a decision of the sandbox may say why, as the team's does", async (t) => {
  const { id } = await client.registerPlayer(playerRequest())
  t.match(await client.decideKyc(id, 'documento_solicitado', { reason: 'blurred' }), {
    kycStatus: 'documento_solicitado',
  })
  t.match(await client.getKyc(id), { reason: 'blurred' })
})

t.test('a refusal carries its code and request id, and is not repeated', async (t) => {
  const refusal = await client
    .confirmDeposit('dep_unknown', { idempotencyKey: 'unknown-deposit-1' })
    .catch((error) => error)
  t.ok(refusal instanceof BackOfficeError)
  t.match(refusal, { status: 404, code: 'DEPOSIT_NOT_FOUND', requestId: /^req_/, idempotencyKey: 'unknown-deposit-1' })
  t.match(refusal, { final: true, replayed: false })
  const again = await client
    .confirmDeposit('dep_unknown', { idempotencyKey: 'unknown-deposit-1' })
    .catch((error) => error)
  t.match(again, { code: 'DEPOSIT_NOT_FOUND', final: true, replayed: true, requestId: refusal.requestId })
  t.equal(await client.findPlayer('nobody'), null)
})
