import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import { BackOfficeClient, BackOfficeError, ConnectionError } from '@backoffice/client/source'
import { startSystem } from '@backoffice/test-kit'
import t from 'tap'
import { playerRequest } from './journey.ts'

const system = await startSystem(t)
const credentials = system.operators[0]?.sandbox ?? { key: '', secret: '' }
const target = new URL(system.baseUrl)

let cutAnswers = 0

// The network between operator and gateway: it loses answers after the gateway has given them.
const network = createServer((client: Socket) => {
  const gateway = connect(Number(target.port), target.hostname)
  client.pipe(gateway)
  gateway.on('data', (bytes) => {
    if (cutAnswers > 0) {
      cutAnswers -= 1
      client.destroy()
      gateway.destroy()
    } else client.write(bytes)
  })
  for (const [side, other] of [
    [client, gateway],
    [gateway, client],
  ] as const) {
    side.on('error', () => other.destroy())
    side.on('close', () => other.destroy())
  }
})
await new Promise<void>((resolve) => network.listen(0, '127.0.0.1', () => resolve()))
t.teardown(() => network.close())

const baseUrl = `http://127.0.0.1:${(network.address() as AddressInfo).port}/api/v1`
const client = new BackOfficeClient({ baseUrl, ...credentials, retryDelayMs: 10 })

t.test('answers that are lost are asked for again under the same key, and the effect happens once', async (t) => {
  const player = await client.registerPlayer(playerRequest())
  const deposit = await client.createDeposit(player.id, {
    amount: '25.00',
    currency: 'BRL',
    method: 'pix',
    externalReference: `lost-${Date.now()}`,
  })
  cutAnswers = 3
  const confirmed = await client.confirmDeposit(deposit.id)
  t.equal(cutAnswers, 0, 'three answers were lost')
  t.equal(confirmed.status, 'confirmed')
  t.equal((await client.getWallet(player.id)).available, '25.00')
  const items: string[] = []
  for await (const item of client.transactions(player.id, { pageSize: 1 })) items.push(item.amount)
  t.strictSame(items, ['25.00'])
})

t.test('what has no key is not repeated when its answer is lost', async (t) => {
  const player = await client.registerPlayer(playerRequest())
  cutAnswers = 1
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
