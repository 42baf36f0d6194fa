import { type AuditedChange, operations, Rejection, type TransitionActor } from '@backoffice/contracts'
import {
  type Db,
  type EmittedEvent,
  type Sent,
  type SentCommand,
  UnfinishedOperation,
} from '@backoffice/service-runtime'
import {
  applyDecision,
  type HoldFate,
  sandboxOutcome,
  type Withdrawal,
  type WithdrawalDecision,
} from '../domain/withdrawal.ts'
import { scopeOf } from '../storage/scope.ts'
import type { Change } from '../storage/transitions.ts'
import type { Checked } from '../storage/unfinished.ts'
import { lockWithdrawals, updateWithdrawals, type WithdrawalRecord } from '../storage/withdrawals.ts'
import { publicWithdrawal } from '../views/withdrawal.ts'

interface WithdrawalCall {
  readonly input: { readonly withdrawalId: string; readonly reason?: string }
  readonly operationId: string
}

const idOf = ({ input }: WithdrawalCall) => input.withdrawalId

/**
 * What all decisions have in common, whoever makes them. The row is locked, so of several decisions at once one wins.
 */
export const decidingWithdrawals = {
  apart: (call: WithdrawalCall) => [idOf(call)],
  load: (calls: readonly WithdrawalCall[], { db }: { readonly db: Db }) => lockWithdrawals(db, calls.map(idOf)),
  save: (changes: readonly Change<WithdrawalRecord>[], { db }: { readonly db: Db }) => updateWithdrawals(db, changes),
}

interface DecisionOptions {
  readonly decision: WithdrawalDecision
  readonly by: TransitionActor
  readonly now: Date
}

/**
 * Decides on a withdrawal. After the commit the wallet releases or captures the hold, and then the event goes to the
 * operator.
 * @throws {Rejection} WITHDRAWAL_NOT_FOUND, then what the domain refuses
 */
export function decideOnWithdrawal(
  { input, operationId }: WithdrawalCall,
  before: Checked<WithdrawalRecord> | undefined,
  { decision, by, now }: DecisionOptions,
): {
  readonly withdrawal: WithdrawalRecord
  readonly change: Change<WithdrawalRecord>
  readonly sends: Sent[]
  readonly changed: readonly AuditedChange[]
} {
  if (before === undefined) throw new Rejection('WITHDRAWAL_NOT_FOUND')
  // Until the wallet has done its part, the public status is the former one, so nobody may be refused because of the
  // new one.
  if (before.unfinished !== null) throw new UnfinishedOperation(before.unfinished)

  const occasion = { at: now, by, reason: input.reason }
  const { withdrawal, transition, hold } = applyDecision(before, sandboxOutcome(before, decision), occasion)
  return {
    withdrawal,
    change: { record: withdrawal, transition, operationId },
    changed: [{ field: 'status', before: before.status, after: withdrawal.status }],
    sends: [...holdCommands(withdrawal, hold, now), changeOf(withdrawal, before.status)],
  }
}

function holdCommands(withdrawal: WithdrawalRecord, fate: HoldFate, now: Date): Sent[] {
  const { id: withdrawalId, playerId } = withdrawal
  const target = { aggregate: withdrawalId, scope: scopeOf(withdrawal) }
  const { releaseHold, captureHold } = operations.wallet
  switch (fate) {
    case 'keep':
      return []
    case 'release': {
      const input = { playerId, withdrawalId }
      return [{ ...target, operation: releaseHold, input } satisfies SentCommand<typeof releaseHold>]
    }
    case 'capture': {
      const input = { playerId, withdrawalId, effectiveAt: now.toISOString() }
      return [{ ...target, operation: captureHold, input } satisfies SentCommand<typeof captureHold>]
    }
    default:
      return fate satisfies never
  }
}

function changeOf(withdrawal: WithdrawalRecord, previousStatus: Withdrawal['status']) {
  const data = { ...publicWithdrawal(withdrawal), previousStatus, version: withdrawal.version }
  return {
    kind: 'withdrawal.status_changed',
    aggregate: withdrawal.id,
    scope: withdrawal,
    data,
  } satisfies EmittedEvent<'withdrawal.status_changed'>
}
