import { operations, Rejection, toMinorUnits } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { admitDeposit, beginDeposit } from '../domain/deposit.ts'
import { insertDeposits, lockDepositors, readBeforeDeposits } from '../storage/deposits.ts'
import { publicDeposit } from '../views/deposit.ts'

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
