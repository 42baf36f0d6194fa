import { BackOfficeClient, BackOfficeError, ConnectionError } from '@backoffice/client/source'
import { sharedSystem } from '@backoffice/test-kit'
import t from 'tap'
import { playerRequest } from './journey.ts'
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

t.test('what has no key is not repeated when its answer is lost', async (t) => {
  const player = await client.registerPlayer(playerRequest())
  network.lose(1)
  await t.rejects(client.decideKyc(player.id, 'aprovado'), ConnectionError)
  t.equal((await client.getKyc(player.id)).kycStatus, 'aprovado', 'the outcome was unknown, and it was done')
})

t.test('a refusal carries its code and request id, and is not repeated', async (t) => {
  const refusal = await client
    .confirmDeposit('dep_unknown', { idempotencyKey: 'unknown-deposit-1' })
    .catch((error) => error)
  t.ok(refusal instanceof BackOfficeError)
  t.match(refusal, { status: 404, code: 'DEPOSIT_NOT_FOUND', requestId: /^req_/, idempotencyKey: 'unknown-deposit-1' })
  t.equal(await client.findPlayer('nobody'), null)
})
