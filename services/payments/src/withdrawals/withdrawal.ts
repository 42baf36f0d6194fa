// Rules.

import assert from 'node:assert/strict'
import {
  asSeen,
  cpfDigits,
  type Environment,
  type ErrorCode,
  type IdOf,
  type PlayerStanding,
  pixKey,
  Rejection,
  sandboxAmounts,
  type TransitionActor,
  toMinorUnits,
  type WithdrawalStatus,
  withdrawalStatuses,
} from '@backoffice/contracts'
import type { ChangeContext, StatusTransition } from '../transition.ts'

/**
 * An intent is a withdrawal that nobody outside sees. It exists so that its hold has a reference before the wallet is
 * asked. It becomes a withdrawal (`under_review`), is `refused` by the wallet, or is `abandoned` if no request comes
 * back for it.
 */
export const invisibleStates = ['intent', 'refused', 'abandoned'] as const
export type InvisibleState = (typeof invisibleStates)[number]
export type WithdrawalState = InvisibleState | WithdrawalStatus

export const withdrawalCommands = ['begin', 'refuse', 'abandon', 'cancel', 'approve', 'reject', 'pay', 'fail'] as const
export type WithdrawalCommand = (typeof withdrawalCommands)[number]
/** The commands that a visible withdrawal takes. */
export type WithdrawalDecision = Exclude<WithdrawalCommand, 'begin' | 'refuse' | 'abandon'>

/** What becomes of the reserved money. */
export type HoldOutcome = 'release' | 'capture' | 'keep'

interface Move {
  readonly to: WithdrawalState
  readonly hold: HoldOutcome
}

const none = {}
const moves: Readonly<Record<WithdrawalState, Readonly<Partial<Record<WithdrawalCommand, Move>>>>> = {
  intent: {
    begin: { to: 'under_review', hold: 'keep' },
    // The wallet reserved nothing, and never will under this reference, because it keeps its refusal.
    refuse: { to: 'refused', hold: 'keep' },
    abandon: { to: 'abandoned', hold: 'release' },
  },
  refused: none,
  abandoned: none,
  under_review: {
    cancel: { to: 'cancelled', hold: 'release' },
    approve: { to: 'approved', hold: 'keep' },
    reject: { to: 'rejected', hold: 'release' },
  },
  approved: {
    pay: { to: 'paid', hold: 'capture' },
    fail: { to: 'failed', hold: 'release' },
  },
  paid: none,
  rejected: none,
  cancelled: none,
  failed: none,
}

/** What a command does in a state; null where it is not accepted. */
export function nextMove(state: WithdrawalState, command: WithdrawalCommand): Move | null {
  return moves[state][command] ?? null
}

export interface StoredWithdrawal {
  readonly id: IdOf<'withdrawal'>
  readonly playerId: IdOf<'player'>
  /** Minor units (centavos). */
  readonly amount: bigint
  readonly currency: string
  readonly method: string
  readonly destination: string
  readonly environment: Environment
  readonly status: WithdrawalStatus
  /** The reason of the last change of status, if one was given. */
  readonly reason: string | null
  readonly version: number
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly reviewedAt: Date | null
  readonly paidAt: Date | null
  /** The person of the team who approved it. Null before that, and when the sandbox route approved it. */
  readonly approvedBy: string | null
  /** Their account at the identity provider. */
  readonly approvedById: string | null
}

/**
 * Whether the player may request a withdrawal. The wallet judges the funds. The player's status does not matter:
 * nobody's money is locked in, and the review queue shows the status.
 * @throws {Rejection} CURRENCY_MISMATCH, KYC_NOT_APPROVED, in this order
 */
export function admitWithdrawal({
  currency,
  standing,
}: {
  readonly currency: string
  readonly standing: PlayerStanding
}): void {
  if (currency !== standing.currency) {
    throw new Rejection('CURRENCY_MISMATCH', { expected: standing.currency, received: currency })
  }
  if (standing.kycStatus !== 'aprovado') throw new Rejection('KYC_NOT_APPROVED', { kycStatus: standing.kycStatus })
}

/** The withdrawal that an intent becomes once its money is reserved. */
export function beginWithdrawal(
  request: Pick<StoredWithdrawal, 'id' | 'playerId' | 'amount' | 'currency' | 'method' | 'destination' | 'environment'>,
  { at, by }: ChangeContext,
): { readonly withdrawal: StoredWithdrawal; readonly transition: StatusTransition } {
  const status = 'under_review'
  const times = { createdAt: at, updatedAt: at, reviewedAt: null, paidAt: null }
  return {
    withdrawal: { ...request, status, reason: null, version: 1, ...times, approvedBy: null, approvedById: null },
    transition: { version: 1, from: null, to: status, at, by, reason: null },
  }
}

/** In the sandbox the payment of a certain amount fails, so that integrators can see `failed`. */
export function sandboxOutcome(withdrawal: StoredWithdrawal, decision: WithdrawalDecision): WithdrawalDecision {
  const reserved =
    withdrawal.environment === 'sandbox' && withdrawal.amount === toMinorUnits(sandboxAmounts.withdrawalFailsOnPay)
  return decision === 'pay' && reserved ? 'fail' : decision
}

export interface DecidedWithdrawal<W extends StoredWithdrawal> {
  readonly withdrawal: W
  readonly transition: StatusTransition
  readonly hold: HoldOutcome
}

/** What one person may approve and pay alone in production, and how much of it is used up. In minor units. */
export interface PayAlone {
  /** Up to this sum of one player's withdrawals within `aloneHours`. */
  readonly upTo: bigint
  /** What the person who approved this withdrawal has approved and paid of that already. */
  readonly paid: bigint
}

/**
 * Whether a withdrawal must be paid by somebody else than the person who approved it: in production, above an amount. What
 * one person paid alone is counted together, so that many small withdrawals are no way around it.
 */
export const payTakesTwo = (
  { environment, amount }: Pick<StoredWithdrawal, 'environment' | 'amount'>,
  { upTo, paid }: PayAlone,
): boolean => environment === 'production' && paid + amount > upTo

/**
 * Whether in production nobody but one person has a part in a payment: who approved it pays it too, or a machine does,
 * which is no second person.
 */
export const isPaidAlone = (
  withdrawal: StoredWithdrawal,
  by: TransitionActor & { readonly isMachine: boolean },
): boolean => withdrawal.environment === 'production' && (by.isMachine || isApprover(by, withdrawal))

/**
 * Applies a decision to a withdrawal that everyone sees.
 * @throws {Rejection} WITHDRAWAL_NOT_CANCELLABLE or WITHDRAWAL_INVALID_STATE with the id and status;
 *   TWO_PEOPLE_REQUIRED when in production nobody approved it
 */
export function applyDecision<W extends StoredWithdrawal>(
  withdrawal: W,
  decision: WithdrawalDecision,
  context: ChangeContext,
): DecidedWithdrawal<W> {
  const move = nextMove(withdrawal.status, decision)
  if (move === null) throw rejectionOf(withdrawal, decision)
  assert(isVisible(move.to))
  const { at, by, reason = null } = context
  const inProduction = withdrawal.environment === 'production'
  assert(by.kind !== 'sandbox' || !inProduction, 'only in the sandbox')
  // Without a recorded approver it cannot be known that another person approved.
  if (decision === 'pay' && inProduction && withdrawal.approvedBy === null) throw takesSomebodyElse(withdrawal)
  const version = withdrawal.version + 1
  const reviewed = decision === 'approve' || decision === 'reject'
  return {
    withdrawal: {
      ...withdrawal,
      status: move.to,
      reason,
      version,
      updatedAt: at,
      reviewedAt: reviewed ? at : withdrawal.reviewedAt,
      paidAt: decision === 'pay' ? at : withdrawal.paidAt,
      ...(decision === 'approve' && by.kind === 'team' ? { approvedBy: by.name, approvedById: by.id ?? null } : {}),
    },
    transition: { version, from: withdrawal.status, to: move.to, at, by, reason },
    hold: move.hold,
  }
}

/** One account under another name is the same person, and so is another account under one name. */
const isApprover = ({ kind, name, id }: TransitionActor, { approvedBy, approvedById }: StoredWithdrawal) =>
  kind === 'team' && (name === approvedBy || (id !== undefined && id === approvedById))

export const takesSomebodyElse = ({ id: withdrawalId, approvedBy }: StoredWithdrawal): Rejection =>
  new Rejection('TWO_PEOPLE_REQUIRED', { withdrawalId, approvedBy })

function rejectionOf(withdrawal: StoredWithdrawal, decision: WithdrawalDecision): Rejection {
  const code: ErrorCode = decision === 'cancel' ? 'WITHDRAWAL_NOT_CANCELLABLE' : 'WITHDRAWAL_INVALID_STATE'
  return new Rejection(code, { withdrawalId: withdrawal.id, status: withdrawal.status })
}

export function isVisible(state: WithdrawalState): state is WithdrawalStatus {
  return !(invisibleStates as readonly string[]).includes(state)
}

/** Whether no other status can follow. Only a transition into such a status changes the hold. */
export function isFinal(status: WithdrawalStatus): boolean {
  return Object.keys(moves[status]).length === 0
}

export const finalStatuses: readonly WithdrawalStatus[] = withdrawalStatuses.filter(isFinal)

export const hasEnded = ({ status }: Pick<StoredWithdrawal, 'status'>): boolean => isFinal(status)

/**
 * The withdrawal as it was before its last transition. That is what everyone sees until the wallet has done its part.
 * @param history all its transitions, oldest first
 */
export function beforeLastTransition<W extends StoredWithdrawal>(
  withdrawal: W,
  history: readonly StatusTransition[],
): W {
  const last = history.at(-1)
  const previous = history.at(-2)
  assert(last !== undefined && previous !== undefined && last.version === withdrawal.version)
  const former = previous.to as WithdrawalStatus
  return {
    ...withdrawal,
    status: former,
    version: previous.version,
    reason: previous.reason,
    updatedAt: previous.at,
    reviewedAt: last.to === 'rejected' || last.to === 'approved' ? null : withdrawal.reviewedAt,
    // Nothing follows a payment.
    paidAt: null,
    ...(last.to === 'approved' ? { approvedBy: null, approvedById: null } : {}),
  }
}

/** What a player did before a withdrawal. Amounts are in minor units. */
export interface Past {
  readonly paidBefore: boolean
  /** Of the latest withdrawals that were paid before. */
  readonly destinations: readonly PaymentKey[]
  readonly deposits: CountAndSum
  readonly withdrawals: CountAndSum
}

interface CountAndSum {
  readonly count: number
  readonly amount: bigint
}

/** How far back sums go. */
const sumDays = 30
const dayMs = 86_400_000
export const sumsBegin = (now: Date): Date => new Date(now.getTime() - sumDays * dayMs)

/** Where somebody is paid, in the words of the operator. */
export interface PaymentKey {
  readonly method: string
  readonly destination: string
}

export function isDestinationKnown(key: PaymentKey, { destinations }: Pick<Past, 'destinations'>): boolean {
  const known = new Set(destinations.map(comparableDestination))
  return known.has(comparableDestination(key))
}

/** One text for all ways of writing a destination. What the operator sent is shown, stored and paid to the letter. */
export function comparableDestination({ method, destination }: PaymentKey): string {
  const seen = asSeen(destination)
  return (asSeen(method).includes('pix') ? pixKey(seen)?.key : null) ?? cpfDigits(seen) ?? seen
}
