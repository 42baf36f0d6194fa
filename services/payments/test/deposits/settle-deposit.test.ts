import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { refusal } from '@backoffice/test-kit'
import t from 'tap'
import { moneyPath, outcomes } from '../money-path.ts'

const path = await moneyPath(t)
const { bed } = path

t.test('a confirmed deposit is in the wallet when the reply arrives, and the operator is told', async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  const pending = await path.createDeposit(playerId, { amount: '150.00' })
  const confirmed = await path.confirm(pending.id)
  t.same({ ...confirmed, confirmedAt: null }, { ...pending, status: 'confirmed' })
  t.match(confirmed.confirmedAt, /^\d{4}-.*Z$/)
  t.equal(await path.balance(playerId), '150.00 / 150.00')
  t.same(await path.ledgerTypes(playerId), ['DEPOSIT 150.00'])
  t.same(await path.events(pending.id), [
    { type: 'deposit.confirmed', data: { ...confirmed, previousStatus: 'pending', version: 2 } },
  ])
})

t.test('a retry gets the first reply to the byte', async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  const [creation, confirmation] = [randomUUID(), randomUUID()]
  const create = () => path.createDeposit(playerId, { amount: '150.00', externalReference: 'pay "ü" 1' }, creation)
  const pending = JSON.stringify(await create())
  t.equal(JSON.stringify(await create()), pending, 'while it is pending')
  const { id } = JSON.parse(pending)
  const confirmed = JSON.stringify(await path.confirm(id, confirmation))
  t.equal(JSON.stringify(await path.confirm(id, confirmation)), confirmed)
  t.equal(JSON.stringify(await create()), pending, 'long after')
})

t.test('a failed deposit credits nothing, keeps its reason and tells nobody', async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  const { id } = await path.createDeposit(playerId)
  const failed = await path.fail(id, { reason: 'expired' })
  t.match(failed, { id, status: 'failed', failureReason: 'expired', confirmedAt: null })
  t.match(failed.failedAt, /Z$/)
  t.equal(await path.balance(playerId), '0.00 / 0.00')
  t.same(await path.events(id), [])
})

t.test('what is settled is DEPOSIT_NOT_PENDING, with its id and status', async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  const [first, second] = [await path.createDeposit(playerId), await path.createDeposit(playerId)]
  await path.confirm(first.id)
  await path.fail(second.id)
  for (const [id, status] of [
    [first.id, 'confirmed'],
    [second.id, 'failed'],
  ] as const) {
    for (const call of [() => path.confirm(id), () => path.fail(id)]) {
      await t.rejects(call(), { code: 'DEPOSIT_NOT_PENDING', details: { depositId: id, status } })
    }
  }
})

t.test("an unknown deposit, or another brand's, is DEPOSIT_NOT_FOUND", async (t) => {
  const { id } = await path.createDeposit(await path.newPlayer({ kyc: false }))
  const production = path.in({ environment: 'production' })
  const calls = [path.confirm('dep_unknown'), path.fail('dep_unknown'), production.confirm(id), production.fail(id)]
  t.same(await outcomes(calls), { DEPOSIT_NOT_FOUND: 4 })
})

t.test('a replay answers the same, long after and twice at once, and credits once', async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  const { id } = await path.createDeposit(playerId)
  const operationId = randomUUID()
  const replies = await Promise.all([1, 2, 3, 4].map(() => path.confirm(id, operationId)))
  replies.push(await path.confirm(id, operationId))
  for (const reply of replies) t.same(reply, replies[0])
  t.same(await path.ledgerTypes(playerId), ['DEPOSIT 10.00'])
  const refused = randomUUID()
  t.equal(await refusal(path.fail(id, { operationId: refused })), 'DEPOSIT_NOT_PENDING')
  t.equal(await refusal(path.fail(id, { operationId: refused })), 'DEPOSIT_NOT_PENDING')
})

t.test('of twenty confirmations and failures at once one wins, and the wallet agrees', async (t) => {
  for (let round = 0; round < 5; round++) {
    const playerId = await path.newPlayer({ kyc: false })
    const { id } = await path.createDeposit(playerId)
    const calls = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? path.confirm(id) : path.fail(id)))
    t.same(await outcomes(calls), { done: 1, DEPOSIT_NOT_PENDING: 19 })
    const deposit = await bed.team('alice').call(operations.payments.showDeposit, { input: { depositId: id } })
    t.equal(await path.balance(playerId), deposit.status === 'confirmed' ? '10.00 / 10.00' : '0.00 / 0.00')
  }
})

t.test('a deposit is confirmed after a self-exclusion and past a limit: the money has been collected', async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  const { id } = await path.createDeposit(playerId)
  const team = bed.team('alice')
  await team.call(operations.players.setDailyLimit, { input: { playerId, dailyDepositLimit: '1.00' } })
  await team.call(operations.players.selfExcludePlayer, { input: { playerId, until: null } })
  t.equal((await path.confirm(id)).status, 'confirmed')
  t.equal(await path.balance(playerId), '10.00 / 10.00')
})
