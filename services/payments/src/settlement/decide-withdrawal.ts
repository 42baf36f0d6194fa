import { operations, Rejection, type TransitionActor } from '@backoffice/contracts'
import { type CommandTools, UnfinishedOperation } from '@backoffice/service-runtime'
import {
  decideWithdrawal,
  type HoldFate,
  isFinal,
  sandboxOutcome,
  type Withdrawal,
  type WithdrawalDecision,
} from '../domain/withdrawal.ts'
import { scopeOf } from '../storage/scope.ts'
import { findUnfinished } from '../storage/unfinished.ts'
import { lockWithdrawal, saveWithdrawal, type WithdrawalRecord } from '../storage/withdrawals.ts'
import { publicWithdrawal } from '../views/withdrawal.ts'

/**
 * Takes a withdrawal one step on: the row is locked, so of several decisions at once one wins. The wallet then releases or
 * captures the hold, and after that the operator is told.
 * @throws {Rejection} WITHDRAWAL_NOT_FOUND, then what the domain refuses
 */
export async function decide(
  tools: CommandTools,
  decision: WithdrawalDecision,
  call: {
    readonly withdrawalId: string
    readonly brandId: string
    readonly by: TransitionActor
    readonly operationId: string
    readonly reason?: string | undefined
  },
): Promise<WithdrawalRecord> {
  const { withdrawalId, brandId, by, operationId, reason } = call
  const before = await lockWithdrawal(tools.em, { id: withdrawalId, brandId })
  if (before === null) throw new Rejection('WITHDRAWAL_NOT_FOUND')
  // Until the wallet has done its part the former status is the public one: nobody is refused with the newer.
  const unfinished = isFinal(before.status) ? await findUnfinished(tools.sql, withdrawalId) : null
  if (unfinished !== null) throw new UnfinishedOperation(unfinished)

  const occasion = { at: tools.now, by, reason }
  const { withdrawal, transition, hold } = decideWithdrawal(before, sandboxOutcome(before, decision), occasion)
  await saveWithdrawal(tools.sql, { withdrawal, transition, operationId })
  const after = { ...before, ...withdrawal }
  settleHold(tools, after, hold)
  tell(tools, after, before.status)
  return after
}

function settleHold(tools: CommandTools, withdrawal: WithdrawalRecord, fate: HoldFate): void {
  const { id: withdrawalId, playerId } = withdrawal
  const target = { aggregate: withdrawalId, scope: scopeOf(withdrawal) }
  switch (fate) {
    case 'keep':
      return
    case 'release':
      tools.send({ ...target, operation: operations.wallet.releaseHold, input: { playerId, withdrawalId } })
      return
    case 'capture': {
      const input = { playerId, withdrawalId, effectiveAt: tools.now.toISOString() }
      tools.send({ ...target, operation: operations.wallet.captureHold, input })
      return
    }
    default:
      fate satisfies never
  }
}

function tell(tools: CommandTools, withdrawal: WithdrawalRecord, previousStatus: Withdrawal['status']): void {
  const data = { ...publicWithdrawal(withdrawal), previousStatus, version: withdrawal.version }
  tools.emit({ kind: 'withdrawal.status_changed', aggregate: withdrawal.id, scope: scopeOf(withdrawal), data })
}
