import { operations } from '@backoffice/contracts'
import { handle, toPage, withOperatorNames } from '@backoffice/service-runtime'
import { scopeOf } from '../storage/scope.ts'
import { listWithdrawals as list } from '../storage/withdrawals.ts'
import { shownWithdrawals } from '../views/shown-withdrawal.ts'
import { teamWithdrawal } from '../views/withdrawal.ts'

export const listWithdrawals = handle(
  operations.payments.listWithdrawals,
  async ({ input, requestId, deadline }, { db, rpc }) => {
    const { limit, from, to, ...filter } = input
    const period = { from: asDate(from), to: asDate(to) }
    const listed = await shownWithdrawals(db, await list(db, { ...filter, ...period, limit: limit + 1 }))
    const { data, nextCursor } = toPage(listed.map(teamWithdrawal), limit, ({ id }) => id)
    const scope = listed[0] && scopeOf(listed[0])
    return { data: await withOperatorNames(data, { rpc, scope, requestId, deadline }), nextCursor }
  },
)

const asDate = (time: string | undefined) => (time === undefined ? undefined : new Date(time))
