import { depositsListedDays, type Input, invalid, operations } from '@backoffice/contracts'
import { dayMs, handle, toPage, withOperatorNames } from '@backoffice/service-runtime'
import { listDeposits as list } from '../storage/deposits.ts'
import { scopeOf } from '../storage/scope.ts'
import { teamDeposit } from '../views/deposit.ts'
import { shownDeposits } from '../views/shown-deposit.ts'

export const listDeposits = handle(
  operations.payments.listDeposits,
  async ({ input, requestId, deadline }, { db, rpc, now }) => {
    const { limit, from: _, to: __, ...filter } = input
    const listed = await shownDeposits(db, await list(db, { ...filter, ...periodOf(input, now), limit: limit + 1 }))
    const { data, nextCursor } = toPage(listed.map(teamDeposit), limit, ({ id }) => id)
    const scope = listed[0] && scopeOf(listed[0])
    return { data: await withOperatorNames(data, { rpc, scope, requestId, deadline }), nextCursor }
  },
)

/**
 * No index finds a reference, a status or a method among the deposits of all operators, so what is read for them has a
 * bound.
 * @throws {Rejection} VALIDATION_ERROR
 */
function periodOf(
  { brandId, playerId, externalReference, from, to }: Input<typeof operations.payments.listDeposits>,
  now: Date,
) {
  const period = { from: asDate(from), to: asDate(to) }
  if (brandId !== undefined || playerId !== undefined) return period
  if (externalReference !== undefined)
    throw invalid('body', '/externalReference', 'is only unique in a brand: name a brandId or a playerId with it')
  const { from: begin = new Date((period.to ?? now).getTime() - depositsListedDays * dayMs), to: end } = period
  return { from: begin, to: end }
}

const asDate = (time: string | undefined) => (time === undefined ? undefined : new Date(time))
