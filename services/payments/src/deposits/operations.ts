import { fromMinorUnits, invalid, operations, Rejection, toMinorUnits } from '@backoffice/contracts'
import { handle, toPage } from '@backoffice/service-runtime'
import { withOperatorNames } from '@backoffice/team-desk'
import { listTransitions, scopeOf } from '../records.ts'
import { listedPeriod, shownTransitions } from '../views.ts'
import { admitDeposit, beginDeposit } from './deposit.ts'
import {
  findDeposits,
  insertDeposits,
  listDeposits as list,
  lockDepositors,
  readBeforeDeposits,
  sumDayDeposits,
} from './records.ts'
import { publicDeposit, shownDeposits, shownListed, teamDeposit } from './views.ts'

const { getPlayerStanding } = operations.players

export const createDeposit = handle(operations.payments.createDeposit, {
  /** The standing is read after the request has arrived, and never cached. */
  prepare: ({ input: { playerId }, scope, requestId, deadline }, { rpc }) =>
    rpc.call(getPlayerStanding, { scope, input: { playerId }, requestId, deadline }),

  apart: ({ input, scope }) => [input.playerId, `${scope.brandId} ${input.externalReference}`],

  async load(calls, { db }) {
    const keys = calls.map(({ input: { playerId, externalReference }, scope: { brandId, timeZone } }) => ({
      playerId,
      timeZone,
      brandId,
      externalReference,
    }))
    // Both are sent at once and run in this order, so the sum includes what was committed while waiting for the locks.
    const [, before] = await Promise.all([lockDepositors(db, keys), readBeforeDeposits(db, keys)])
    return before
  },

  decide({ input, scope, operationId, prepared: standing }, { dayTotal, deposited, taken }, { now, newId }) {
    // A taken reference is refused before anything else, so that a retry under a new key finds the existing deposit.
    if (taken !== null) throw new Rejection('DEPOSIT_ALREADY_EXISTS', { depositId: taken })
    const { playerId, currency, method, externalReference } = input
    const amount = toMinorUnits(input.amount)
    admitDeposit({ amount, currency, environment: scope.environment, standing, dayTotal, deposited })
    const { deposit, transition } = beginDeposit(
      { id: newId('dep'), playerId, amount, currency, method, externalReference },
      { at: now, by: { kind: 'operator', name: scope.operatorId } },
    )
    const record = { ...scope, ...deposit }
    const change = { record, transition, operationId, deposited: deposited + amount, dayTotal: dayTotal + amount }
    return { reply: publicDeposit(deposit), change }
  },

  save: (changes, { db }) => insertDeposits(db, changes),
})

export const showDeposit = handle(operations.payments.showDeposit, async ({ input: { depositId } }, { db }) => {
  const [deposit] = await shownDeposits(db, await findDeposits(db, [depositId]))
  if (deposit === undefined) throw new Rejection('DEPOSIT_NOT_FOUND')
  const histories = await listTransitions(db, [depositId])
  return { ...teamDeposit(deposit), transitions: shownTransitions(histories.get(depositId), deposit) }
})

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

export const readDayDeposits = handle(operations.payments.readDayDeposits, {
  async read(calls, { db }) {
    const players = calls.map(({ input: { playerId }, scope: { timeZone } }) => ({ playerId, timeZone }))
    const totals = await sumDayDeposits(db, players)
    return totals.map((total) => ({ total: fromMinorUnits(total) }))
  },
})
