import { operations } from '@backoffice/contracts'
import t from 'tap'
import { moneyPath } from '../money-path.ts'

const { showWithdrawal, withdrawalQueue } = operations.payments
const path = await moneyPath(t)
const team = path.bed.team('alice')
const shown = async (withdrawalId: string) => {
  const { facts, approvedBy } = await team.call(showWithdrawal, { input: { withdrawalId } })
  return { ...facts, approvedBy }
}
const nothing = { count: 0, amount: '0.00' }

async function pay(withdrawalId: string): Promise<void> {
  await path.decide('alice', withdrawalId, 'approve')
  await path.decide('bob', withdrawalId, 'pay')
}

t.test('a first withdrawal is called that, until one of the player was paid before', async (t) => {
  const playerId = await path.newPlayerWith('100.00')
  const first = await path.requestWithdrawal(playerId)
  const second = await path.requestWithdrawal(playerId, { destination: 'Ana@Example.com' })
  const other = await path.requestWithdrawal(playerId, { destination: 'elsewhere' })
  const deposits30Days = { count: 1, amount: '100.00' }
  for (const { id } of [first, second]) {
    t.same(await shown(id), {
      ...{ firstWithdrawal: true, destinationUsedBefore: false, approvedBy: null },
      ...{ deposits30Days, withdrawals30Days: nothing },
    })
  }
  await pay(first.id)
  const withdrawals30Days = { count: 1, amount: '10.00' }
  const later = { firstWithdrawal: false, deposits30Days, withdrawals30Days, approvedBy: null }
  t.same(await shown(second.id), { ...later, destinationUsedBefore: true }, 'the same one, in another case')
  t.same(await shown(other.id), { ...later, destinationUsedBefore: false })
  t.same(
    await shown(first.id),
    {
      ...{ firstWithdrawal: true, destinationUsedBefore: false, approvedBy: 'alice' },
      ...{ deposits30Days, withdrawals30Days: nothing },
    },
    'of the one that was paid nothing has changed, and it says who approved it',
  )
})

t.test('what was not paid, not confirmed, long ago or of another player does not count', async (t) => {
  const playerId = await path.newPlayerWith('100.00')
  await pay((await path.requestWithdrawal(await path.newPlayerWith('100.00'), { destination: 'a key' })).id)
  const rejected = await path.requestWithdrawal(playerId, { destination: 'a key' })
  await path.decide('alice', rejected.id, 'reject', { reason: 'not now' })
  await path.createDeposit(playerId)
  await path.fail((await path.createDeposit(playerId)).id)
  const old = await path.createDeposit(playerId)
  await path.confirm(old.id)
  await path.bed
    .sql('admin')
    .query(`update payments.deposit set created_at = created_at - interval '31 days' where id = $1`, [old.id])
  const { id } = await path.requestWithdrawal(playerId, { destination: 'a key' })
  t.same(await shown(id), {
    ...{ firstWithdrawal: true, destinationUsedBefore: false, approvedBy: null },
    ...{ deposits30Days: { count: 1, amount: '100.00' }, withdrawals30Days: nothing },
  })
})

t.test('a destination that was anonymised is none that was used before', async (t) => {
  const playerId = await path.newPlayerWith('100.00')
  await pay((await path.requestWithdrawal(playerId)).id)
  const { scope, bed } = path
  await bed.rpc.call(operations.payments.forgetDestinations, { scope, input: { playerId } })
  const { id } = await path.requestWithdrawal(playerId, { destination: 'anonymised' })
  t.match(await shown(id), { firstWithdrawal: false, destinationUsedBefore: false })
})

t.test('the queue shows the same of each withdrawal', async (t) => {
  const { data } = await team.call(withdrawalQueue, { input: { limit: 50 } })
  t.ok(data.length >= 4)
  t.ok(data.some(({ facts }) => facts?.destinationUsedBefore))
  for (const { id, facts, approvedBy } of data) t.same({ ...facts, approvedBy }, await shown(id))
})
