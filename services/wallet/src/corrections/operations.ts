import {
  aloneHours,
  fromMinorUnits,
  type IdOf,
  type Input,
  invalid,
  operations,
  Rejection,
  refuseUnlessSeen,
  seenOf,
  toMinorUnits,
} from '@backoffice/contracts'
import { hourMs } from '@backoffice/process'
import { type Call, handle, type ReadDb, type Tools } from '@backoffice/service-runtime'
import { reasonOf, recordAction } from '@backoffice/team-access'
import type { TeamCaller } from '@backoffice/team-access/identity'
import type { Ledger } from '../ledger/ledger.ts'
import { type AccountTarget, type TransferRequest, unexpected } from '../ledger/posting.ts'
import { environmentOf, findBalanceOfPlayer, ownerOf } from '../ledger/records.ts'
import { findEntry, readCounterparty } from '../statement/records.ts'
import { teamEntry, transferIdOf } from '../statement/views.ts'

export interface Correction {
  readonly brandId: IdOf<'brand'>
  readonly playerId: IdOf<'player'>
  /** Of the call itself. A retry must not count it twice. */
  readonly reference: string
  readonly person: Pick<TeamCaller, 'id' | 'name'>
}

/**
 * What a person corrected alone of a player's balance in the last `aloneHours`, either way, in minor units, without this
 * correction.
 */
export async function sumCorrectedAlone(
  db: ReadDb,
  { brandId, playerId, reference, person }: Correction,
  now: Date,
): Promise<bigint> {
  const windowMs = aloneHours * hourMs
  const [since, until] = [new Date(now.getTime() - windowMs), new Date(now.getTime() + windowMs)]
  const [sum] = await db<{ corrected: bigint }>`
    select coalesce(sum(t.amount), 0)::bigint as corrected from audit_entry e
    join transfer t on t.brand_id = ${brandId} and t.reference = e.input ->> 'reference'
      and t.type in ('ADJUSTMENT', 'REVERSAL') and t.outcome = 'posted'
    join account a on a.id in (t.debit_account, t.credit_account) and a.owner_id = ${playerId}
    -- No entry is that late. With an end the planner expects two days, and not a third of the trail.
    where e.at > ${since}::timestamptz and e.at < ${until}::timestamptz
      and e.operation in ('adjustWallet', 'reverseTransfer') and (e.actor = ${person.name} or e.actor_id = ${person.id})
      and e.outcome = 'done' and e.proposal is null and e.input ->> 'reference' <> ${reference}
  `
  return sum?.corrected ?? 0n
}

/**
 * Says who has to approve a correction. In production it takes a second person above an amount. What one person corrected
 * alone of a player's balance is counted together, so that many small corrections are no way around it.
 * @param correction `amount` in minor units, whatever its sign
 */
export type CorrectionApprover = (
  db: ReadDb,
  correction: Correction & { readonly amount: bigint },
  now: Date,
) => Promise<'nobody' | 'second person'>

/** @param aloneUpTo money, such as `50.00` */
export function correctionApprover(aloneUpTo: string): CorrectionApprover {
  const above = toMinorUnits(aloneUpTo)
  return async (db, { amount, ...correction }, now) => {
    if ((await environmentOf(db, correction.brandId)) !== 'production') return 'nobody'
    const size = amount < 0n ? -amount : amount
    const takesTwo = size > above || size + (await sumCorrectedAlone(db, correction, now)) > above
    return takesTwo ? 'second person' : 'nobody'
  }
}

type TeamTransfer = typeof operations.wallet.adjustWallet | typeof operations.wallet.reverseTransfer

/**
 * Posts a transfer by the team and records who did it and why, in one transaction. A replay is not recorded again. An
 * `amount` below zero is a debit.
 * @throws {Rejection} TRANSFER_CONFLICT, TRANSFER_ALREADY_REVERSED, INSUFFICIENT_FUNDS, VALIDATION_ERROR (the balance
 *   would be higher than the team may take it), SERVICE_UNAVAILABLE (another correction by the same person was faster, and
 *   with it this one may take two people: the next attempt sees it)
 */
async function postTransfer(
  ledger: Ledger,
  {
    amount,
    ...asked
  }: AccountTarget & Pick<TransferRequest, 'type' | 'counterparty' | 'party' | 'amount' | 'reverses'>,
  {
    operation,
    call,
    tools,
  }: {
    readonly operation: TeamTransfer
    readonly call: Call<TeamTransfer>
    readonly tools: Tools['direct']
  },
) {
  const { reference } = call.input
  const posting = {
    ...asked,
    kind: amount > 0n ? ('credit' as const) : ('debit' as const),
    amount: amount > 0n ? amount : -amount,
    transferId: tools.newId('trf'),
    reference,
    reason: await reasonOf(tools.db, call),
  }
  const result = await ledger.post(posting, async (db, reached, now) => {
    if (reached.outcome !== 'posted' || reached.replayed) return
    const { amount: change, balance } = await requireEntry(db, reached.transferId)
    const changes = [{ field: 'balance', before: fromMinorUnits(balance - change), after: fromMinorUnits(balance) }]
    await recordAction(db, operation, call, now, { changes })
    // Under the lock of the account, where corrections of one player come one after another.
    await tools.approveAgain(db, now)
  })
  if (result.outcome === 'conflict') throw new Rejection('TRANSFER_CONFLICT')
  if (result.outcome === 'already_reversed') throw new Rejection('TRANSFER_ALREADY_REVERSED')
  if (result.outcome === 'insufficient_funds') throw new Rejection('INSUFFICIENT_FUNDS')
  if (result.outcome === 'balance_limit')
    throw invalid(
      'body',
      'amount' in call.input ? '/amount' : '/transferId',
      'must not take the balance above its limit',
    )
  if (result.outcome !== 'posted') throw unexpected(result, `the transfer ${reference}`)
  const entry = await requireEntry(tools.db, result.transferId)
  return { ...teamEntry(entry), brandId: entry.brandId, replayed: result.replayed }
}

async function requireEntry(db: ReadDb, transferId: IdOf<'transfer'>) {
  const entry = await findEntry(db, transferId)
  if (entry === undefined) throw new Error(`transfer ${transferId} was posted and is not there`)
  return entry
}

const adjustment = operations.wallet.adjustWallet

/** @throws {Rejection} NOT_AS_SEEN */
async function asSeen(
  db: ReadDb,
  { playerId, seen }: Input<typeof adjustment>,
  { brandId, currency }: { readonly brandId: IdOf<'brand'>; readonly currency: string },
): Promise<void> {
  refuseUnlessSeen({ playerId }, seen, { ...(await ownerOf(db, brandId)), currency })
}

export const adjustWallet = (ledger: Ledger, approverOf: CorrectionApprover) =>
  handle(adjustment, {
    async approval({ input, caller: person }, { db, now }) {
      const { playerId, amount, reference } = input
      const account = await findBalanceOfPlayer(db, playerId)
      // Nobody need propose what is refused anyway.
      if (account === undefined) return 'nobody'
      await asSeen(db, input, account)
      const correction = { brandId: account.brandId, playerId, reference, person, amount: toMinorUnits(amount) }
      return approverOf(db, correction, now)
    },
    async run(call, tools) {
      const { playerId } = call.input
      const amount = toMinorUnits(call.input.amount)
      if (amount === 0n) throw invalid('body', '/amount', 'must not be zero')
      const account = await findBalanceOfPlayer(tools.db, playerId)
      if (account === undefined) throw new Rejection('PLAYER_NOT_FOUND')
      const { brandId, currency } = account
      await asSeen(tools.db, call.input, account)
      const transfer = { brandId, playerId, currency, amount, type: 'ADJUSTMENT', counterparty: 'adjustments' } as const
      return postTransfer(ledger, transfer, { operation: adjustment, call, tools })
    },
  })

const reversal = operations.wallet.reverseTransfer

/** The entry that is taken back. @throws {Rejection} TRANSFER_NOT_FOUND, NOT_AS_SEEN */
async function findReversed(db: ReadDb, { transferId, playerId, seen }: Input<typeof reversal>) {
  const reversed = await findEntry(db, transferIdOf(transferId))
  if (reversed?.playerId !== playerId) throw new Rejection('TRANSFER_NOT_FOUND')
  refuseUnlessSeen({ transferId }, seen, seenOf(reversal, teamEntry(reversed)))
  return reversed
}

export const reverseTransfer = (ledger: Ledger, approverOf: CorrectionApprover) =>
  handle(reversal, {
    async approval({ input, caller: person }, { db, now }) {
      const { brandId, playerId, transferAmount: amount } = await findReversed(db, input)
      return approverOf(db, { brandId, playerId, reference: input.reference, person, amount }, now)
    },
    async run(call, tools) {
      const { transferId: reverses, ...reversed } = await findReversed(tools.db, call.input)
      const { brandId, playerId, currency } = reversed
      const house = await readCounterparty(tools.db, reverses)
      const amount = -reversed.amount
      const transfer = { brandId, playerId, currency, amount, type: 'REVERSAL', ...house, reverses } as const
      return postTransfer(ledger, transfer, { operation: reversal, call, tools })
    },
  })
