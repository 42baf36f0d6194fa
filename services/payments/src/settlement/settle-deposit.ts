import { fromMinorUnits, operations, Rejection, type Scope } from '@backoffice/contracts'
import { type CommandTools, UnfinishedOperation } from '@backoffice/service-runtime'
import { type Deposit, type DepositCommand, settleDeposit } from '../domain/deposit.ts'
import { lockDeposit, saveDeposit } from '../storage/deposits.ts'
import { findUnfinished } from '../storage/unfinished.ts'
import { publicDeposit } from '../views/deposit.ts'

/**
 * Confirms or fails a pending deposit: the row is locked, so of several at once one wins. A confirmed deposit credits the
 * wallet and, after that, tells the operator.
 * @throws {Rejection} DEPOSIT_NOT_FOUND, DEPOSIT_NOT_PENDING
 */
export async function settle(
  tools: CommandTools,
  command: DepositCommand,
  call: {
    readonly depositId: string
    readonly scope: Scope
    readonly operationId: string
    readonly reason?: string | undefined
  },
): Promise<Deposit> {
  const { depositId, scope, operationId, reason } = call
  const before = await lockDeposit(tools.em, { id: depositId, brandId: scope.brandId })
  if (before === null) throw new Rejection('DEPOSIT_NOT_FOUND')
  // Who lost a race is not told `confirmed` before the money is in.
  const unfinished = before.status === 'confirmed' ? await findUnfinished(tools.sql, depositId) : null
  if (unfinished !== null) throw new UnfinishedOperation(unfinished)

  const by = { kind: 'operator', name: scope.operatorId } as const
  const { deposit, transition } = settleDeposit(before, command, { at: tools.now, by, reason })
  await saveDeposit(tools.sql, { deposit, transition, operationId })
  if (command === 'confirm') creditAndTell(tools, { deposit, scope })
  return deposit
}

/** In this order: who hears `deposit.confirmed` and reads the wallet sees the money. */
function creditAndTell(
  tools: CommandTools,
  { deposit, scope }: { readonly deposit: Deposit; readonly scope: Scope },
): void {
  const { id, playerId } = deposit
  const amount = fromMinorUnits(deposit.amount)
  const input = { playerId, depositId: id, amount, effectiveAt: tools.now.toISOString() }
  tools.send({ operation: operations.wallet.creditAccount, aggregate: id, scope, input })
  const data = { ...publicDeposit(deposit), previousStatus: 'pending', version: deposit.version } as const
  tools.emit({ kind: 'deposit.confirmed', aggregate: id, scope, data })
}
