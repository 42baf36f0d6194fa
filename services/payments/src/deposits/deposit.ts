// Rules.

import assert from 'node:assert/strict'
import {
  type DepositStatus,
  depositsOfPlayerMax,
  type Environment,
  fromMinorUnits,
  type IdOf,
  invalid,
  type PlayerStanding,
  Rejection,
  sandboxAmounts,
  toMinorUnits,
} from '@backoffice/contracts'
import type { ChangeContext, StatusTransition } from '../transition.ts'

export interface StoredDeposit {
  readonly id: IdOf<'deposit'>
  readonly playerId: IdOf<'player'>
  /** Minor units (centavos). */
  readonly amount: bigint
  readonly currency: string
  readonly method: string
  readonly externalReference: string
  readonly status: DepositStatus
  readonly failureReason: string | null
  readonly version: number
  readonly createdAt: Date
  readonly confirmedAt: Date | null
  readonly failedAt: Date | null
}

/**
 * Whether a deposit may begin. `dayTotal` is what the player deposited today, pending and confirmed, and `deposited` the
 * sum of all deposits ever begun, both in minor units.
 * @throws {Rejection} CURRENCY_MISMATCH, RG_BLOCKED (self-exclusion), PLAYER_NOT_ACTIVE, RG_BLOCKED (daily limit),
 *   VALIDATION_ERROR (the wallet might have no room for it), in this order
 */
export function admitDeposit({
  amount,
  currency,
  environment,
  standing,
  dayTotal,
  deposited,
}: {
  readonly amount: bigint
  readonly currency: string
  readonly environment: Environment
  readonly standing: PlayerStanding
  readonly dayTotal: bigint
  readonly deposited: bigint
}): void {
  if (currency !== standing.currency) {
    throw new Rejection('CURRENCY_MISMATCH', { expected: standing.currency, received: currency })
  }
  const reserved = environment === 'sandbox' ? fromMinorUnits(amount) : null
  if (standing.status === 'autoexcluido' || reserved === sandboxAmounts.depositBlocked) {
    throw new Rejection('RG_BLOCKED', { reason: 'self_exclusion' })
  }
  if (standing.status !== 'ativo') throw new Rejection('PLAYER_NOT_ACTIVE', { status: standing.status })
  const { dailyDepositLimit: limit } = standing
  const passesLimit = limit !== null && dayTotal + amount > toMinorUnits(limit)
  if (passesLimit || reserved === sandboxAmounts.depositOverLimit) {
    throw new Rejection('RG_BLOCKED', { reason: 'daily_limit' })
  }
  // Once the payment is collected, the credit must fit. So there is no later moment to refuse it.
  if (deposited + amount > depositsOfPlayerMax) {
    throw invalid('body', '/amount', 'must not take the deposits of the player beyond what a wallet can hold')
  }
}

export function beginDeposit(
  request: Pick<StoredDeposit, 'id' | 'playerId' | 'amount' | 'currency' | 'method' | 'externalReference'>,
  { at, by }: ChangeContext,
): { readonly deposit: StoredDeposit; readonly transition: StatusTransition } {
  const status = 'pending'
  return {
    deposit: { ...request, status, failureReason: null, version: 1, createdAt: at, confirmedAt: null, failedAt: null },
    transition: { version: 1, from: null, to: status, at, by, reason: null },
  }
}

export type DepositCommand = 'confirm' | 'fail'

/**
 * Settles a pending deposit. The player's standing and limits are not checked again, because the money has been
 * collected.
 * @throws {Rejection} DEPOSIT_NOT_PENDING with the deposit's id and status
 */
export function settleDeposit<D extends StoredDeposit>(
  deposit: D,
  command: DepositCommand,
  { at, by, reason }: ChangeContext,
): { readonly deposit: D; readonly transition: StatusTransition } {
  if (deposit.status !== 'pending') {
    throw new Rejection('DEPOSIT_NOT_PENDING', { depositId: deposit.id, status: deposit.status })
  }
  const version = deposit.version + 1
  const transition = { version, from: deposit.status, at, by, reason: reason ?? null }
  switch (command) {
    case 'confirm': {
      const status = 'confirmed'
      return { deposit: { ...deposit, status, version, confirmedAt: at }, transition: { ...transition, to: status } }
    }
    case 'fail': {
      const status = 'failed'
      const failureReason = reason ?? null
      return {
        deposit: { ...deposit, status, version, failedAt: at, failureReason },
        transition: { ...transition, to: status },
      }
    }
    default:
      return command satisfies never
  }
}

/**
 * Takes a confirmation back whose credit the wallet can never do. Nothing was credited, and nobody was shown
 * `confirmed`. The history keeps both steps.
 */
export function takeBackConfirmation<D extends StoredDeposit>(
  deposit: D,
  { at, by, reason }: ChangeContext,
): { readonly deposit: D; readonly transition: StatusTransition } {
  assert(isConfirmed(deposit), 'only a confirmation sends a credit')
  const version = deposit.version + 1
  const status = 'failed'
  return {
    deposit: { ...deposit, status, version, confirmedAt: null, failedAt: at, failureReason: reason ?? null },
    transition: { version, from: deposit.status, to: status, at, by, reason: reason ?? null },
  }
}

export const isConfirmed = ({ status }: Pick<StoredDeposit, 'status'>): boolean => status === 'confirmed'

/** The deposit as it was before it was settled. That is what everyone sees until the wallet has done its part. */
export function beforeSettling<D extends StoredDeposit>(deposit: D): D {
  const former = { status: 'pending', version: 1, confirmedAt: null, failedAt: null, failureReason: null } as const
  return { ...deposit, ...former }
}
