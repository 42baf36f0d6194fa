import { type Operation, operations, rpcSubject, rpcSubjectOfAll } from '@backoffice/contracts'
import { newPlayer, reconcile, refusal, seenWithdrawal, testBed } from '@backoffice/test-kit'
import type { Msg } from '@nats-io/transport-node'
import t from 'tap'
import { services } from '../services.ts'

// Who has a service's password for the broker hears the calls to it, and may be quicker with an answer than the service.

const { players, payments, wallet, reconciler } = services
const bed = await testBed(t, { players, payments, wallet, reconciler })
const scope = bed.scope({ environment: 'production' })
const [alice, bob] = [bed.team('alice'), bed.team('bob')]
const { decideWithdrawal, requestWithdrawal, showWithdrawal } = operations.payments

let running = bed.services.wallet
/** Answers in the wallet's name what it was never asked, until it is told to stop. The wallet is down: nobody is quicker. */
async function answering(answers: readonly (readonly [Operation, object])[]) {
  const connection = await bed.nats('wallet')
  const subscriptions = answers.flatMap(([operation, body]) => {
    const callback = (_error: unknown, call: Msg) => void call.respond(JSON.stringify({ body }))
    return [
      connection.subscribe(rpcSubject(operation), { callback, queue: 'wallet' }),
      connection.subscribe(rpcSubjectOfAll(operation), { callback }),
    ]
  })
  await connection.flush()
  await running.drain()
  return async () => {
    for (const subscription of subscriptions) subscription.unsubscribe()
    running = await bed.start('wallet')
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

async function newDeposit(playerId: string): Promise<string> {
  const input = { playerId, amount: '900.00', currency: 'BRL', method: 'pix', externalReference: playerId }
  return (await bed.rpc.call(operations.payments.createDeposit, { scope, input })).id
}

const confirm = (depositId: string) => bed.rpc.call(operations.payments.confirmDeposit, { scope, input: { depositId } })

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
  const end = await answering([
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
  await confirm(await newDeposit(playerId))
  const withdrawalId = await request(playerId)
  t.match(await alice.call(showWithdrawal, { input: { withdrawalId } }), { isReserved: true })
  t.equal(await decide(alice, withdrawalId, 'approve'), 'approved')
  await bed.rpc.call(operations.wallet.releaseHold, { scope, input: { playerId, withdrawalId } })
  t.equal(await refusal(decide(bob, withdrawalId, 'pay')), 'WITHDRAWAL_NOT_RESERVED')
  t.equal(await decide(bob, withdrawalId, 'fail'), 'failed')
  t.equal(await balanceOf(playerId), '900.00')
})

t.test('what the ledger is said to have entered, and has not, is named by reconciliation and never paid', async (t) => {
  const [credited, paid] = [await newApprovedPlayer(), await newApprovedPlayer()]
  await confirm(await newDeposit(paid))
  const withdrawalId = await request(paid)
  await decide(alice, withdrawalId, 'approve')
  const rejected = await newApprovedPlayer()
  await confirm(await newDeposit(rejected))
  const rejectedId = await request(rejected)
  const depositId = await newDeposit(credited)
  const transferId = 'trf_01h00000000000000000000000'
  const end = await answering([
    [operations.wallet.creditAccount, { transferId }],
    [operations.wallet.captureHold, { transferId }],
    [operations.wallet.releaseHold, { state: 'released' }],
    [operations.wallet.readBalance, { available: '900.00', withdrawable: '0.00' }],
  ])
  t.match(await confirm(depositId), { status: 'confirmed' })
  t.equal(await decide(bob, withdrawalId, 'pay'), 'paid')
  t.equal(await decide(bob, rejectedId, 'reject'), 'rejected')
  await end()
  const named = (await reconcile(alice)).differences.map(({ subject }) => subject)
  for (const id of [depositId, withdrawalId, rejectedId])
    t.ok(
      named.some((subject) => subject.includes(id)),
      id,
    )
  t.equal(await refusal(request(credited)), 'INSUFFICIENT_FUNDS')
})
