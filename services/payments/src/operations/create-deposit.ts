import { operations, Rejection, toMinorUnits } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { admitDeposit, openDeposit } from '../domain/deposit.ts'
import { findReference, insertDeposit, lockDepositor, sumDeposits } from '../storage/deposits.ts'
import { recordTransition } from '../storage/transitions.ts'
import { publicDeposit } from '../views/deposit.ts'

const { createDeposit: createDepositOperation } = operations.payments
const { getPlayerStanding } = operations.players

export const createDeposit = command(createDepositOperation, {
  /** Read after the request arrived, never cached. */
  prepare: ({ input: { playerId }, scope, requestId, deadline }, { rpc }) =>
    rpc.call(getPlayerStanding, { scope, input: { playerId }, requestId, deadline }),

  async execute({ input, scope, operationId }, tools, standing) {
    const { playerId, externalReference, currency } = input
    const amount = toMinorUnits(input.amount)
    await lockDepositor(tools.sql, playerId)
    // Before all else: a retry under a new key must reach the deposit that is there.
    const taken = await findReference(tools.sql, { brandId: scope.brandId, externalReference })
    if (taken !== null) throw new Rejection('DEPOSIT_ALREADY_EXISTS', { depositId: taken })

    const dayTotal = await sumDeposits(tools.sql, { playerId, timeZone: scope.timeZone, now: tools.now })
    admitDeposit({ amount, currency, environment: scope.environment, standing, dayTotal })
    const { deposit, transition } = openDeposit(
      { id: tools.newId('dep'), playerId, amount, currency, method: input.method, externalReference },
      { at: tools.now, by: { kind: 'operator', name: scope.operatorId } },
    )
    if (!(await insertDeposit(tools.sql, { ...scope, ...deposit }))) {
      // Another player's deposit took the reference in the meantime, and has committed by now.
      const depositId = await findReference(tools.sql, { brandId: scope.brandId, externalReference })
      throw new Rejection('DEPOSIT_ALREADY_EXISTS', { depositId })
    }
    await recordTransition(tools.sql, { recordId: deposit.id, operationId, transition })
    return publicDeposit(deposit)
  },
})
