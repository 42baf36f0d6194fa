// Operations.

import { fromMinorUnits, operations, type Deposit as PublicDeposit, Rejection, type Scope } from '@backoffice/contracts'
import { type Db, type EmittedEvent, handle, type SentCommand, UnfinishedOperation } from '@backoffice/service-runtime'
import { type Change, type CheckedRecord, ofBrand, scopeOf } from '../records.ts'
import { type DepositCommand, settleDeposit } from './deposit.ts'
import { type DepositRecord, lockDeposits, updateDeposits } from './records.ts'
import { publicDeposit } from './views.ts'

interface DepositCall {
  readonly input: { readonly depositId: string; readonly reason?: string }
  readonly scope: Scope
  readonly operationId: string
}

const idOf = ({ input }: DepositCall) => input.depositId

/** What confirming and failing have in common. The row is locked, so of several commands at once one wins. */
const settlingDeposits = {
  apart: (call: DepositCall) => [idOf(call)],
  load: (calls: readonly DepositCall[], { db }: { readonly db: Db }) => lockDeposits(db, calls.map(idOf)),
  save: (changes: readonly Change<DepositRecord>[], { db }: { readonly db: Db }) => updateDeposits(db, changes),
}

/**
 * Confirms or fails a pending deposit.
 * @throws {Rejection} DEPOSIT_NOT_FOUND, DEPOSIT_NOT_PENDING
 */
function confirmOrFail(
  { input, scope, operationId }: DepositCall,
  found: CheckedRecord<DepositRecord> | undefined,
  { command, now }: { readonly command: DepositCommand; readonly now: Date },
) {
  const before = ofBrand(found, scope.brandId)
  if (before === undefined) throw new Rejection('DEPOSIT_NOT_FOUND')
  // Nobody may be refused because of `confirmed` before the wallet has been credited.
  if (before.unfinished !== null) throw new UnfinishedOperation(before.unfinished)

  const by = { kind: 'operator', name: scope.operatorId } as const
  const { deposit, transition } = settleDeposit(before, command, { at: now, by, reason: input.reason })
  const reply = publicDeposit(deposit)
  const sends = command === 'confirm' ? [creditOf(deposit, now), confirmationOf(deposit, reply)] : []
  // The credit is done before the event leaves, so that an operator who hears `deposit.confirmed` sees the money in the
  // wallet.
  return { reply, change: { record: deposit, transition, operationId }, sends }
}

function creditOf(deposit: DepositRecord, now: Date) {
  const { id, playerId, amount } = deposit
  return {
    operation: operations.wallet.creditAccount,
    aggregate: id,
    scope: scopeOf(deposit),
    input: { playerId, depositId: id, amount: fromMinorUnits(amount), effectiveAt: now.toISOString() },
  } satisfies SentCommand<typeof operations.wallet.creditAccount>
}

function confirmationOf(deposit: DepositRecord, reply: PublicDeposit) {
  const data = { ...reply, previousStatus: 'pending', version: deposit.version } as const
  return {
    kind: 'deposit.confirmed',
    aggregate: deposit.id,
    scope: deposit,
    data,
  } satisfies EmittedEvent<'deposit.confirmed'>
}

export const confirmDeposit = handle(operations.payments.confirmDeposit, {
  ...settlingDeposits,
  decide: (call, found, { now }) => confirmOrFail(call, found, { command: 'confirm', now }),
})

export const failDeposit = handle(operations.payments.failDeposit, {
  ...settlingDeposits,
  decide: (call, found, { now }) => confirmOrFail(call, found, { command: 'fail', now }),
})
