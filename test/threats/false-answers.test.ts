import { type Operation, operations, rpcSubject, rpcSubjectOfAll } from '@backoffice/contracts'
import { newPlayer, refusal, seenWithdrawal, testBed } from '@backoffice/test-kit'
import type { Msg } from '@nats-io/transport-node'
import t from 'tap'
import { services } from '../services.ts'

// Who has a service's password for the broker hears the calls to it, and may be quicker with an answer than the service.

const { players, payments, wallet } = services
const bed = await testBed(t, { players, payments, wallet })
const scope = bed.scope({ environment: 'production' })
const [alice, bob] = [bed.team('alice'), bed.team('bob')]
const { decideWithdrawal, requestWithdrawal, showWithdrawal } = operations.payments

/** Answers in a service's name what it was never asked, until it is told to stop. The service is down: nobody is quicker. */
async function answering(service: 'wallet', answers: readonly (readonly [Operation, object])[]) {
  const connection = await bed.nats(service)
  const subscriptions = answers.flatMap(([operation, body]) => {
    const callback = (_error: unknown, call: Msg) => void call.respond(JSON.stringify({ body }))
    return [
      connection.subscribe(rpcSubject(operation), { callback, queue: service }),
      connection.subscribe(rpcSubjectOfAll(operation), { callback }),
    ]
  })
  await connection.flush()
  await bed.services[service].drain()
  return async () => {
    for (const subscription of subscriptions) subscription.unsubscribe()
    await bed.start(service)
  }
}

async function newApprovedPlayer(): Promise<string> {
  const { id: playerId } = await bed.rpc.call(operations.players.registerPlayer, { scope, input: newPlayer() })
  const input = { playerId, submission: null, status: 'aprovado', reason: 'documents match' } as const
  await bed.team('carol').call(operations.players.decideKyc, { input })
  return playerId
}

const balanceOf = async (playerId: string) =>
  (await bed.rpc.call(operations.wallet.getWallet, { scope, input: { playerId } })).available

async function request(playerId: string): Promise<string> {
  const input = { playerId, amount: '900.00', currency: 'BRL', method: 'pix', destination: 'thief@example.com' }
  return (await bed.rpc.call(requestWithdrawal, { scope, input })).id
}

async function decide(who: typeof alice, withdrawalId: string, decision: 'approve' | 'pay' | 'reject' | 'fail') {
  const input = { ...(await seenWithdrawal(who, withdrawalId)), decision, reason: 'as it is shown' }
  return (await who.call(decideWithdrawal, { input })).status
}

t.test('two people pay nothing out that the ledger does not reserve, whatever the broker says of it', async (t) => {
  const playerId = await newApprovedPlayer()
  const end = await answering('wallet', [
    [operations.wallet.openHold, { state: 'open' }],
    [operations.wallet.captureHold, { transferId: 'trf_01h00000000000000000000000' }],
    [operations.wallet.readBalance, { available: '900.00', withdrawable: '0.00' }],
  ])
  const withdrawalId = await request(playerId)
  t.equal(await refusal(decide(alice, withdrawalId, 'approve')), 'WITHDRAWAL_NOT_RESERVED')
  const shown = await alice.call(showWithdrawal, { input: { withdrawalId } })
  t.match(shown, { status: 'under_review', isReserved: false })
  await end()
  t.equal(await balanceOf(playerId), '0.00')
  t.equal(await decide(alice, withdrawalId, 'reject'), 'rejected')
})

t.test('nothing is paid out whose money is free again by now', async (t) => {
  const playerId = await newApprovedPlayer()
  const deposit = { playerId, amount: '900.00', currency: 'BRL', method: 'pix', externalReference: playerId }
  const { id: depositId } = await bed.rpc.call(operations.payments.createDeposit, { scope, input: deposit })
  await bed.rpc.call(operations.payments.confirmDeposit, { scope, input: { depositId } })
  const withdrawalId = await request(playerId)
  t.match(await alice.call(showWithdrawal, { input: { withdrawalId } }), { isReserved: true })
  t.equal(await decide(alice, withdrawalId, 'approve'), 'approved')
  await bed.rpc.call(operations.wallet.releaseHold, { scope, input: { playerId, withdrawalId } })
  t.equal(await refusal(decide(bob, withdrawalId, 'pay')), 'WITHDRAWAL_NOT_RESERVED')
  t.equal(await decide(bob, withdrawalId, 'fail'), 'failed')
  t.equal(await balanceOf(playerId), '900.00')
})
