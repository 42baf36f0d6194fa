import { operations, Rejection, toMinorUnits } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { admitDeposit, openDeposit } from '../domain/deposit.ts'
import { findReference, insertDeposit, lockDepositor, readBeforeDeposit } from '../storage/deposits.ts'
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
    const reference = { brandId: scope.brandId, externalReference }
    await lockDepositor(tools.sql, playerId)
    // A taken reference comes before all else: a retry under a new key must reach the deposit that is there.
    const day = { playerId, timeZone: scope.timeZone, now: tools.now }
    const { dayTotal, taken } = await readBeforeDeposit(tools.sql, { ...reference, ...day })
    if (taken !== null) throw new Rejection('DEPOSIT_ALREADY_EXISTS', { depositId: taken })

    admitDeposit({ amount, currency, environment: scope.environment, standing, dayTotal })
    const { deposit, transition } = openDeposit(
      { id: tools.newId('dep'), playerId, amount, currency, method: input.method, externalReference },
      { at: tools.now, by: { kind: 'operator', name: scope.operatorId } },
    )
    if (!(await insertDeposit(tools.sql, { deposit: { ...scope, ...deposit }, transition, operationId }))) {
      // Another player's deposit took the reference in the meantime, and has committed by now.
      throw new Rejection('DEPOSIT_ALREADY_EXISTS', { depositId: await findReference(tools.sql, reference) })
    }
    return publicDeposit(deposit)
  },
})
