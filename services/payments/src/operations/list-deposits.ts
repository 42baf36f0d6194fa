import { invalid, operations } from '@backoffice/contracts'
import { handle, toPage } from '@backoffice/service-runtime'
import { withOperatorNames } from '@backoffice/team-desk'
import { listedPeriod } from '../steps/listed-period.ts'
import { listDeposits as list } from '../storage/deposits.ts'
import { scopeOf } from '../storage/scope.ts'
import { teamDeposit } from '../views/deposit.ts'
import { shownListed } from '../views/shown-deposit.ts'

export const listDeposits = handle(
  operations.payments.listDeposits,
  async ({ input, requestId, deadline }, { db, rpc, now }) => {
    const { limit, from, to, ...filter } = input
    const isOwned = filter.brandId !== undefined || filter.playerId !== undefined
    if (filter.externalReference !== undefined && !isOwned)
      throw invalid('body', '/externalReference', 'is only unique in a brand: name a brandId or a playerId with it')
    const period = listedPeriod({ from, to }, { isOwned, now })
    const listed = (await list(db, { ...filter, ...period, limit: limit + 1 })).map(shownListed)
    const { data, nextCursor } = toPage(listed.map(teamDeposit), limit, ({ id }) => id)
    const scope = listed[0] && scopeOf(listed[0])
    return { data: await withOperatorNames(data, { rpc, scope, requestId, deadline }), nextCursor }
  },
)
