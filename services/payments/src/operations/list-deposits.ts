import { operations } from '@backoffice/contracts'
import { handle, toPage, withOperatorNames } from '@backoffice/service-runtime'
import { listDeposits as list } from '../storage/deposits.ts'
import { scopeOf } from '../storage/scope.ts'
import { teamDeposit } from '../views/deposit.ts'
import { shownDeposits } from '../views/shown-deposit.ts'

export const listDeposits = handle(
  operations.payments.listDeposits,
  async ({ input, requestId, deadline }, { db, rpc }) => {
    const { limit, from, to, ...filter } = input
    const period = { from: asDate(from), to: asDate(to) }
    const listed = await shownDeposits(db, await list(db, { ...filter, ...period, limit: limit + 1 }))
    const { data, nextCursor } = toPage(listed.map(teamDeposit), limit, ({ id }) => id)
    const scope = listed[0] && scopeOf(listed[0])
    return { data: await withOperatorNames(data, { rpc, scope, requestId, deadline }), nextCursor }
  },
)

const asDate = (time: string | undefined) => (time === undefined ? undefined : new Date(time))
