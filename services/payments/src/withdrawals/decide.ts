// Operations.

import {
  type AuditedChange,
  fromMinorUnits,
  type Input,
  operations,
  Rejection,
  refuseUnlessSeen,
  seenOfWithdrawal,
  type TransitionActor,
} from '@backoffice/contracts'
import { type Call, handle, type LockingDb, type SentMessage, UnfinishedOperation } from '@backoffice/service-runtime'
import { lockDepositors } from '../deposits/records.ts'
import { type Change, type CheckedRecord, ofBrand, scopeOf, settled } from '../records.ts'
import { sumPaidAlone } from './figures.ts'
import { findReserved, lockWithdrawals, updateWithdrawals, type WithdrawalRecord } from './records.ts'
import { publicWithdrawal, teamWithdrawal } from './views.ts'
import {
  applyDecision,
  type HoldOutcome,
  isPaidAlone,
  payTakesTwo,
  type StoredWithdrawal,
  sandboxOutcome,
  takesSomebodyElse,
  type WithdrawalDecision,
} from './withdrawal.ts'

interface WithdrawalCall {
  readonly input: { readonly withdrawalId: string; readonly reason?: string }
  readonly operationId: string
}

const idOf = ({ input }: WithdrawalCall) => input.withdrawalId

/**
 * What all decisions have in common, whoever makes them. The row is locked, so of several decisions at once one wins.
 */
const decidingWithdrawals = {
  conflictKeys: (call: WithdrawalCall) => [idOf(call)],
  load: (calls: readonly WithdrawalCall[], { db }: { readonly db: LockingDb }) => lockWithdrawals(db, calls.map(idOf)),
  save: updateWithdrawals,
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
function decideOnWithdrawal(
  { input, operationId }: WithdrawalCall,
  before: CheckedRecord<WithdrawalRecord> | undefined,
  { decision, by, now }: DecisionOptions,
): {
  readonly withdrawal: WithdrawalRecord
  readonly change: Change<WithdrawalRecord>
  readonly sends: SentMessage[]
  readonly changed: readonly AuditedChange[]
} {
  if (before === undefined) throw new Rejection('WITHDRAWAL_NOT_FOUND')
  // Until the wallet has done its part, the public status is the former one, so nobody may be refused because of the
  // new one.
  if (before.unfinished !== null) throw new UnfinishedOperation(before.unfinished)

  const context = { at: now, by, reason: input.reason }
  const { withdrawal, transition, hold } = applyDecision(before, sandboxOutcome(before, decision), context)
  return {
    withdrawal,
    change: { record: withdrawal, transition, operationId },
    changed: [{ field: 'status', before: before.status, after: withdrawal.status }],
    sends: [...holdCommands(withdrawal, hold, now), changeOf(withdrawal, before.status)],
  }
}

function holdCommands(withdrawal: WithdrawalRecord, outcome: HoldOutcome, now: Date): SentMessage[] {
  const { id: withdrawalId, playerId } = withdrawal
  const target = { aggregate: withdrawalId, scope: scopeOf(withdrawal) }
  const { releaseHold, captureHold } = operations.wallet
  switch (outcome) {
    case 'keep':
      return []
    case 'release': {
      const input = { playerId, withdrawalId }
      return [{ ...target, operation: releaseHold, input } satisfies SentMessage<typeof releaseHold>]
    }
    case 'capture': {
      const input = { playerId, withdrawalId, effectiveAt: now.toISOString() }
      return [{ ...target, operation: captureHold, input } satisfies SentMessage<typeof captureHold>]
    }
    default:
      return outcome satisfies never
  }
}

function changeOf(withdrawal: WithdrawalRecord, previousStatus: StoredWithdrawal['status']) {
  const data = { ...publicWithdrawal(settled(withdrawal)), previousStatus, version: withdrawal.version }
  return {
    kind: 'withdrawal.status_changed',
    aggregate: withdrawal.id,
    scope: withdrawal,
    data,
  } satisfies SentMessage<'withdrawal.status_changed'>
}

type DecisionCall = Call<typeof operations.payments.decideWithdrawal>

const personOf = ({ actor: name, caller: { id, kind } }: DecisionCall) =>
  ({ kind: 'team', name, id, isMachine: kind === 'machine' }) as const

/** @param payAloneUpTo in production one person may approve and pay up to this amount, in minor units */
export const decideWithdrawal = ({ payAloneUpTo }: { readonly payAloneUpTo: bigint }) =>
  handle(operations.payments.decideWithdrawal, {
    ...decidingWithdrawals,
    // What one person pays is counted together, so of two payments at once the second must see the first.
    conflictKeys: (call) => [
      ...decidingWithdrawals.conflictKeys(call),
      ...(call.input.decision === 'pay' ? [`paid by ${call.actor}`, `paid by ${call.caller.id}`] : []),
    ],
    async load(calls, { db }) {
      const found = await decidingWithdrawals.load(calls, { db })
      const alone = found.filter((withdrawal, index) => isAlone(calls[index], withdrawal)) as WithdrawalRecord[]
      // Another process may be paying for the same player.
      if (alone.length > 0) await db.lock(lockDepositors(alone))
      return found
    },
    /**
     * No money leaves that the ledger does not reserve. And the approval was the first person's part: above an amount whoever
     * pays must be somebody else.
     */
    async approval(call, { db }, withdrawal) {
      if (withdrawal === undefined) return 'nobody'
      const leadsToPayment = call.input.decision === 'approve' || call.input.decision === 'pay'
      if (leadsToPayment && !(await findReserved(db, [withdrawal])).has(withdrawal.id))
        throw new Rejection('WITHDRAWAL_NOT_RESERVED', { withdrawalId: withdrawal.id })
      if (!isAlone(call, withdrawal)) return 'nobody'
      const { name: person, id: personId, isMachine } = personOf(call)
      const [paid = 0n] = await sumPaidAlone(db, [{ playerId: withdrawal.playerId, person, personId, isMachine }])
      if (payTakesTwo(withdrawal, { upTo: payAloneUpTo, paid })) throw takesSomebodyElse(withdrawal)
      return 'nobody'
    },
    decide(call, found, { now }) {
      if (found !== undefined) asSeen(call.input, found)
      const { isMachine: _, ...by } = personOf(call)
      const { withdrawal, changed, ...decided } = decideOnWithdrawal(call, found, {
        decision: call.input.decision,
        by,
        now,
      })
      // Says why one person was enough, whatever the setting is when somebody reads it.
      const because = { field: 'payAloneUpTo', before: null, after: fromMinorUnits(payAloneUpTo) }
      return {
        reply: teamWithdrawal(settled(withdrawal)),
        ...decided,
        changed: isAlone(call, found) ? [...changed, because] : changed,
      }
    },
  })

const isAlone = (call: DecisionCall | undefined, withdrawal: WithdrawalRecord | undefined): boolean =>
  call?.input.decision === 'pay' && withdrawal !== undefined && isPaidAlone(withdrawal, personOf(call))

function asSeen(
  { withdrawalId, playerId, amount, currency, destinationDigest }: Input<typeof operations.payments.decideWithdrawal>,
  withdrawal: WithdrawalRecord,
): void {
  const held = seenOfWithdrawal({ ...withdrawal, amount: fromMinorUnits(withdrawal.amount) })
  refuseUnlessSeen({ withdrawalId }, { playerId, amount, currency, destinationDigest }, held)
}

export const cancelWithdrawal = handle(operations.payments.cancelWithdrawal, {
  ...decidingWithdrawals,
  decide(call, found, { now }) {
    const { brandId, operatorId } = call.scope
    const by = { kind: 'operator', name: operatorId } as const
    const { withdrawal, ...decided } = decideOnWithdrawal(call, ofBrand(found, brandId), {
      decision: 'cancel',
      by,
      now,
    })
    return { reply: publicWithdrawal(settled(withdrawal)), ...decided }
  },
})

export const decideWithdrawalInSandbox = handle(operations.payments.decideWithdrawalInSandbox, {
  ...decidingWithdrawals,
  decide(call, found, { now }) {
    const { brandId, operatorId } = call.scope
    const by = { kind: 'sandbox', name: operatorId } as const
    const { decision } = call.input
    const { withdrawal, ...decided } = decideOnWithdrawal(call, ofBrand(found, brandId), { decision, by, now })
    return { reply: publicWithdrawal(settled(withdrawal)), ...decided }
  },
})
