import t from 'tap'
import { moneyPath, outcomes } from '../money-path.ts'

const one = { DATABASE_POOL_MAX: 1 }

t.test(
  'everything works with one database connection per service: no transaction waits for another of its own',
  async (t) => {
    const path = await moneyPath(t, { config: { payments: one, players: one, wallet: one } })
    const playerId = await path.newPlayerWith('100.00')
    const deposits = await Promise.all(
      Array.from({ length: 20 }, () => path.createDeposit(playerId, { amount: '1.00' })),
    )
    t.same(await outcomes(deposits.flatMap(({ id }) => [path.confirm(id), path.fail(id)])), {
      done: 20,
      DEPOSIT_NOT_PENDING: 20,
    })
    const withdrawals = await Promise.all(Array.from({ length: 10 }, () => path.requestWithdrawal(playerId)))
    const calls = withdrawals.flatMap(({ id }) => [path.cancel(id), path.decideInSandbox(id, 'reject')])
    t.equal((await outcomes(calls)).done, 10)
  },
)
