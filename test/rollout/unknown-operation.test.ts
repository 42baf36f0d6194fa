import { randomUUID } from 'node:crypto'
import { payments } from '@backoffice/payments'
import { loadConfig } from '@backoffice/process'
import { startService } from '@backoffice/service-runtime/testing'
import { OperatorClient, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { expectStatus, fund, register } from '../journey.ts'
import { services } from '../services.ts'
import { newOperator } from './fleet.ts'

/** Payments as a release knew it in which withdrawals could not be cancelled. */
const olderPayments: typeof payments = {
  ...payments,
  compose(...args) {
    const composition = payments.compose(...args)
    const { cancelWithdrawal: _, ...known } = composition.operations
    return { ...composition, operations: known as typeof composition.operations }
  },
}

t.test('an operation that no service knows yet is refused for the moment, and its key is not used up', async (t) => {
  const bed = await testBed(t, { ...services, payments: olderPayments })
  const client = new OperatorClient(bed.services.gateway.addresses.baseUrl, await newOperator({ bed }))
  t.teardown(() => client.close())
  const { id: playerId } = await register(client)
  expectStatus(await client.post(`/sandbox/players/${playerId}/kyc/decision`, { status: 'aprovado' }), 200)
  await fund(client, playerId, '10.00')
  const request = { amount: '4.00', currency: 'BRL', method: 'pix', destination: 'ana@example.com' }
  const { id } = expectStatus(await client.post(`/players/${playerId}/withdrawals`, request), 201)

  const idempotencyKey = randomUUID()
  const cancel = () => client.post(`/withdrawals/${id}/cancel`, {}, { idempotencyKey })
  for (const refused of [await cancel(), await cancel()]) {
    t.match(refused, { status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } }, headers: { 'retry-after': '1' } })
    t.notOk(refused.headers['idempotent-replayed'], 'it is not a stored reply')
  }

  const running = await startService(payments, loadConfig(payments.configuration, bed.environment('payments')) as never)
  t.teardown(() => running.drain())
  await bed.services.payments.drain()
  t.match(await cancel(), { status: 200, body: { id, status: 'cancelled' } })
  const again = await cancel()
  t.match(again, { status: 200, headers: { 'idempotent-replayed': 'true' } })
})
