import { operations } from '@backoffice/contracts'
import t from 'tap'
import { moneyPath } from '../money-path.ts'

const { readOpenRecords, forgetDestinations, showWithdrawal } = operations.payments
const path = await moneyPath(t)
const { bed, scope } = path

t.test("of a player's open records only its own count", async (t) => {
  const [quiet, busy] = [await path.newPlayer(), await path.newPlayerWith('100.00')]
  await path.createDeposit(busy)
  await path.requestWithdrawal(busy)
  const count = (playerId: string) => bed.rpc.call(readOpenRecords, { scope, input: { playerId } })
  t.same(await count(quiet), { openDeposits: 0, openWithdrawals: 0, lastChangeAt: null })
  t.match(await count(busy), { openDeposits: 1, openWithdrawals: 1 })
})

t.test('where a player was paid to is forgotten when it has ended, and nobody else is', async (t) => {
  const [leaving, staying] = [await path.newPlayerWith('100.00'), await path.newPlayerWith('100.00')]
  const request = async (playerId: string, ended: boolean) => {
    const { id } = await path.requestWithdrawal(playerId)
    if (ended) await path.decideInSandbox(id, 'reject')
    return id
  }
  const [ended, open, other] = [
    await request(leaving, true),
    await request(leaving, false),
    await request(staying, true),
  ]
  await bed.rpc.call(forgetDestinations, { scope, input: { playerId: leaving } })
  const destinationOf = async (withdrawalId: string) =>
    (await bed.team('alice').call(showWithdrawal, { input: { withdrawalId } })).destination
  t.equal(await destinationOf(ended), 'anonymised')
  t.not(await destinationOf(open), 'anonymised', 'it still has to be paid')
  t.not(await destinationOf(other), 'anonymised')
})
