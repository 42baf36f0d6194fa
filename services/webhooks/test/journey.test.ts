import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { eventually, newPlayer, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { webhooks } from '../src/service.ts'
import { type Received, startReceiver, verifies } from './receiver.ts'

const { registerPlayer, decideKycInSandbox } = operations.players
const { createDeposit, confirmDeposit, requestWithdrawal, decideWithdrawalInSandbox } = operations.payments
const { provisionWebhook, setWebhookUrl } = operations.webhooks

t.test('events of a sandbox journey arrive signed, once each', async (t) => {
  const bed = await testBed(t, { players, wallet, payments, webhooks })
  const scope = bed.scope()
  const { operatorId, environment } = scope
  const receiver = await startReceiver(t)
  const { webhookSecret } = await bed.rpc.call(provisionWebhook, { scope, input: { operatorName: 'Acme' } })
  await bed.team('alice').call(setWebhookUrl, { input: { operatorId, environment, url: receiver.url } })

  /** Makes a change, and waits for the event that tells of it. */
  const changing = async <R>(change: () => Promise<R>): Promise<R> => {
    const before = receiver.received.length
    const result = await change()
    await eventually(() => receiver.received.length > before)
    return result
  }
  const call = <O extends Parameters<typeof bed.rpc.call>[0]>(
    operation: O,
    input: Parameters<typeof bed.rpc.call<O>>[1]['input'],
  ) => bed.rpc.call(operation, { scope, input, operationId: randomUUID() })

  for (let n = 0; n < 5; n++) {
    const { id: playerId } = await call(registerPlayer, newPlayer())
    await changing(() => call(decideKycInSandbox, { playerId, status: 'aprovado' }))
    const money = { currency: 'BRL', method: 'pix' }
    const deposit = await call(createDeposit, { playerId, amount: '150.00', externalReference: randomUUID(), ...money })
    await changing(() => call(confirmDeposit, { depositId: deposit.id }))
    const { id: withdrawalId } = await call(requestWithdrawal, {
      playerId,
      amount: '40.00',
      destination: 'ana',
      ...money,
    })
    await changing(() => call(decideWithdrawalInSandbox, { withdrawalId, decision: 'approve' }))
    await changing(() => call(decideWithdrawalInSandbox, { withdrawalId, decision: 'pay' }))
  }

  t.equal(receiver.received.length, 20, 'one for each change')
  t.equal(new Set(receiver.received.map(({ id }) => id)).size, 20)
  for (const delivery of receiver.received) if (!verifies(delivery, webhookSecret ?? '')) t.fail('a signature is wrong')
  const told = receiver.received.slice(0, 4).map(({ body }: Received) => JSON.parse(body))
  t.match(told, [
    { type: 'kyc.status_changed', environment, data: { kycStatus: 'aprovado', previousStatus: 'nao_iniciado' } },
    { type: 'deposit.confirmed', data: { amount: '150.00', status: 'confirmed', previousStatus: 'pending' } },
    { type: 'withdrawal.status_changed', data: { status: 'approved', previousStatus: 'under_review' } },
    { type: 'withdrawal.status_changed', data: { status: 'paid', previousStatus: 'approved' } },
  ])
})
