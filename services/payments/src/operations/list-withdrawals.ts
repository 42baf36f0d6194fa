import { operations } from '@backoffice/contracts'
import { handle, toPage } from '@backoffice/service-runtime'
import { withOperatorNames } from '@backoffice/team-desk'
import { listedPeriod } from '../steps/listed-period.ts'
import { scopeOf } from '../storage/scope.ts'
import { listWithdrawals as list } from '../storage/withdrawals.ts'
import { shownListed } from '../views/shown-withdrawal.ts'
import { teamWithdrawal } from '../views/withdrawal.ts'

export const listWithdrawals = handle(
  operations.payments.listWithdrawals,
  async ({ input, requestId, deadline }, { db, rpc, now }) => {
    const { limit, from, to, ...filter } = input
    const isOwned = filter.operatorId !== undefined || filter.playerId !== undefined
    const period = listedPeriod({ from, to }, { isOwned, now })
    const listed = await shownListed(db, await list(db, { ...filter, ...period, limit: limit + 1 }))
    const { data, nextCursor } = toPage(listed.map(teamWithdrawal), limit, ({ id }) => id)
    const scope = listed[0] && scopeOf(listed[0])
    return { data: await withOperatorNames(data, { rpc, scope, requestId, deadline }), nextCursor }
  },
)
