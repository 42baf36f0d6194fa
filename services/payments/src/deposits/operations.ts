import assert from 'node:assert/strict'
import {
  fromMinorUnits,
  type IdOf,
  type Input,
  operations,
  type Deposit as PublicDeposit,
  Rejection,
  refuseUnlessSeen,
  type Scope,
  type TeamDeposit,
  toMinorUnits,
} from '@backoffice/contracts'
import {
  handle,
  type LockingDb,
  outbox,
  type ReadDb,
  type SentMessage,
  toPage,
  UnfinishedOperation,
  withIsoTimes,
} from '@backoffice/service-runtime'
import { withOperatorNames } from '@backoffice/team-access'
import {
  asListed,
  type CheckedRecord,
  type ListedRecord,
  listedPeriod,
  listTransitions,
  ofBrand,
  type ShownRecord,
  scopeOf,
  settled,
  shownTransitions,
  sumsOf,
  withLastActors,
} from '../records.ts'
import {
  admitDeposit,
  beforeSettling,
  beginDeposit,
  type DepositCommand,
  isConfirmed,
  type StoredDeposit,
  settleDeposit,
  takeBackConfirmation,
} from './deposit.ts'
import {
  type DepositRecord,
  findDeposits,
  insertDeposits,
  insertEndedCommand,
  listDeposits as list,
  lockDepositors,
  lockDeposits,
  readBeforeDeposits,
  sumDeposits as sum,
  sumDayDeposits,
  updateDeposits,
} from './records.ts'

/** A deposit as operators see it. */
function publicDeposit(deposit: ShownRecord<StoredDeposit>): PublicDeposit {
  const { id, playerId, currency, method, externalReference, status, failureReason } = deposit
  const { createdAt, confirmedAt, failedAt } = deposit
  return {
    ...{ id, playerId, amount: fromMinorUnits(deposit.amount), currency, method, externalReference },
    ...withIsoTimes({ status, failureReason, createdAt, confirmedAt, failedAt }),
  }
}

/** A deposit as the team sees it. */
function teamDeposit(shown: ShownRecord<DepositRecord>): TeamDeposit {
  const { operatorId, brandId, environment, timeZone, version, settling } = shown
  return { ...publicDeposit(shown), operatorId, brandId, environment, timeZone, version, settling }
}

/** How deposits that have just been read may be shown. */
const shownDeposits = async (db: ReadDb, deposits: readonly DepositRecord[]) =>
  (await asListed(db, deposits, isConfirmed)).map(shownListed)

/** How a deposit of a list is shown: it stays pending until the wallet has been credited. */
const shownListed = (deposit: ListedRecord<DepositRecord>): ShownRecord<DepositRecord> =>
  deposit.isSettling ? { ...beforeSettling(deposit), settling: true } : settled(deposit)

const { getPlayerStanding } = operations.players

export const createDeposit = handle(operations.payments.createDeposit, {
  /** The standing is read after the request has arrived, and never cached. */
  prepare: ({ input: { playerId }, scope, requestId, deadline }, { rpc }) =>
    rpc.call(getPlayerStanding, { scope, input: { playerId }, requestId, deadline }),

  conflictKeys: ({ input, scope }) => [input.playerId, `${scope.brandId} ${input.externalReference}`],

  async load(calls, { db }) {
    const keys = calls.map(({ input: { playerId, externalReference }, scope: { brandId, timeZone } }) => ({
      playerId,
      timeZone,
      brandId,
      externalReference,
    }))
    // Both are sent at once and run in this order, so the sum includes what was committed while waiting for the locks.
    const [, before] = await Promise.all([db.lock(lockDepositors(keys)), readBeforeDeposits(db, keys)])
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
    return { reply: publicDeposit(settled(deposit)), change }
  },

  save: insertDeposits,
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
    const { brandId, playerId, externalReference } = filter
    // Of a reference there are few, whenever they were.
    const isOwned = [brandId, playerId, externalReference].some((one) => one !== undefined)
    const period = listedPeriod({ from, to }, { isOwned, now })
    const listed = (await list(db, { ...filter, ...period, limit: limit + 1 })).map(shownListed)
    const { data, nextCursor } = toPage(listed.map(teamDeposit), limit, ({ id }) => id)
    const scope = listed[0] && scopeOf(listed[0])
    const rows = await withLastActors(db, data)
    return { data: await withOperatorNames(rows, { rpc, scope, requestId, deadline }), nextCursor }
  },
)

export const sumDeposits = handle(
  operations.payments.sumDeposits,
  async ({ input: { from, to, ...filter } }, { db, now }) => {
    const isOwned = filter.brandId !== undefined || filter.playerId !== undefined
    return sumsOf(await sum(db, { ...filter, ...listedPeriod({ from, to }, { isOwned, now }) }))
  },
)

export const readDayDeposits = handle(operations.payments.readDayDeposits, {
  async read(calls, { db }) {
    const players = calls.map(({ input: { playerId }, scope: { timeZone } }) => ({ playerId, timeZone }))
    const totals = await sumDayDeposits(db, players)
    return totals.map((total) => ({ total: fromMinorUnits(total) }))
  },
})

interface DepositCall {
  readonly input: { readonly depositId: IdOf<'deposit'>; readonly reason?: string }
  readonly scope: Scope
  readonly operationId: string
}

const idOf = ({ input }: DepositCall) => input.depositId

/** What confirming and failing have in common. The row is locked, so of several commands at once one wins. */
const settlingDeposits = {
  conflictKeys: (call: DepositCall) => [idOf(call)],
  load: (calls: readonly DepositCall[], { db }: { readonly db: LockingDb }) => lockDeposits(db, calls.map(idOf)),
  save: updateDeposits,
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
  const reply = publicDeposit(settled(deposit))
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
  } satisfies SentMessage<typeof operations.wallet.creditAccount>
}

function confirmationOf(deposit: DepositRecord, reply: PublicDeposit) {
  const data = { ...reply, previousStatus: 'pending', version: deposit.version } as const
  return {
    kind: 'deposit.confirmed',
    aggregate: deposit.id,
    scope: deposit,
    data,
  } satisfies SentMessage<'deposit.confirmed'>
}

export const confirmDeposit = handle(operations.payments.confirmDeposit, {
  ...settlingDeposits,
  decide: (call, found, { now }) => confirmOrFail(call, found, { command: 'confirm', now }),
})

export const failDeposit = handle(operations.payments.failDeposit, {
  ...settlingDeposits,
  decide: (call, found, { now }) => confirmOrFail(call, found, { command: 'fail', now }),
})

const { creditAccount, refuseCredit } = operations.wallet
const creditName = `${creditAccount.service}.${creditAccount.id}`

type UnfinishedCommand = Parameters<typeof outbox.endCommand>[1]

/**
 * Only a credit is given up. What the other commands stand for has happened outside, so that there is nothing to take
 * back: see the README.
 */
function creditToEnd(command: UnfinishedCommand | undefined): UnfinishedCommand {
  if (command === undefined) throw new Rejection('COMMAND_NOT_FOUND')
  if (command.name !== creditName)
    throw new Rejection('COMMAND_CANNOT_BE_ENDED', { because: 'no credit', operation: command.name })
  return command
}

export const endCommand = handle(operations.payments.endCommand, {
  /**
   * When the second person calls, the approval is committed. Then the wallet is asked to refuse the credit for ever, before
   * anything else is changed here: the credit may be on its way, and must do nothing when it arrives later. So no credit is
   * refused whose proposal was declined or has expired. Should this process die now, the same call is made again.
   */
  async prepare({ input, requestId, deadline }, { db, rpc, approveFirst }) {
    const { aggregate: depositId, message } = creditToEnd(await outbox.findCommand(db, input.commandId))
    const { playerId, amount } = message.input as Input<typeof creditAccount>
    const { environment, currency } = message.scope
    const held = { depositId, playerId, environment, amount, currency }
    refuseUnlessSeen({ commandId: input.commandId }, input.seen, held)
    const proposal = await approveFirst()
    if (proposal === undefined) return { depositId, proposal }
    const { state } = await rpc.call(refuseCredit, {
      scope: message.scope,
      input: { ...(message.input as Input<typeof creditAccount>), reason: input.reason },
      requestId,
      deadline,
    })
    if (state !== 'refused') throw new Rejection('COMMAND_CANNOT_BE_ENDED', { because: state })
    return { depositId, proposal }
  },

  async execute({ input, caller, operationId }, { db, now }, { depositId, proposal }) {
    const { commandId, reason } = input
    const [deposit] = await lockDeposits(db, [depositId])
    const command = creditToEnd(await outbox.lockCommand(db, commandId))
    assert(deposit !== undefined, 'a credit is about a deposit')
    assert(proposal !== undefined, 'only an approval is carried out')
    const context = { at: now, by: { kind: 'team', name: caller.name, id: caller.id } as const, reason }
    const { deposit: failed, transition } = takeBackConfirmation(deposit, context)
    await db.write(updateDeposits([{ record: failed, transition, operationId }]))
    await outbox.endCommand(db, command, new Rejection('DEPOSIT_NOT_PENDING', { depositId, status: failed.status }))
    await insertEndedCommand(db, { commandId, depositId, proposal, by: caller.name, at: now, operationId })
    const { proposedBy, expiresAt } = proposal
    return { commandId, depositId, state: 'ended' as const, proposedBy, expiresAt: expiresAt.toISOString() }
  },
})
