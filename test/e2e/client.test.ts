import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { BackOfficeClient, BackOfficeError, type ResponseEvent } from '@backoffice/client'
import { sharedSystem, startProcess } from '@backoffice/test-kit'
import t from 'tap'
import { playerRequest } from '../journey.ts'
import { startLossyNetwork } from '../network.ts'

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

t.test("the example of an operator's server comes to its end, whatever answers are lost", async (t) => {
  const { key: OPERATOR_KEY, secret: OPERATOR_SECRET } = credentials
  const env = { ...process.env, BASE_URL: network.baseUrl, OPERATOR_KEY, OPERATOR_SECRET }
  const example = fileURLToPath(new URL('../../examples/operator-server.ts', import.meta.url))
  network.lose(2, /deposits HTTP/)
  const { ended, printed } = startProcess(t, [process.execPath, example, `example-${randomUUID()}`], { env })
  t.equal(await ended, 0, printed())
  t.equal(network.losses, 0)
  t.match(printed(), /^wallet 110\.00 BRL, of which 110\.00 can be withdrawn$/m)
})
