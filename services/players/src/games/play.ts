// Rules.

import { type KycStatus, type PlayerStatus, Rejection } from '@backoffice/contracts'

export interface PlayStanding {
  readonly status: PlayerStatus
  readonly kycStatus: KycStatus
  /** In minor units; null: none. */
  readonly dailyLimit: bigint | null
  /** Today's deposits, pending and confirmed, in minor units. */
  readonly dayDeposits: bigint
}

/**
 * Whether a player may open a game session now.
 * @throws {Rejection} in this order: RG_BLOCKED (self-exclusion), PLAYER_NOT_ACTIVE, KYC_NOT_APPROVED, RG_BLOCKED (daily limit exceeded)
 */
export function admitToPlay(standing: PlayStanding): void {
  admitPerson(standing)
  admitDay(standing)
}

/** @throws {Rejection} in this order: RG_BLOCKED (self-exclusion), PLAYER_NOT_ACTIVE, KYC_NOT_APPROVED */
export function admitPerson({ status, kycStatus }: Pick<PlayStanding, 'status' | 'kycStatus'>): void {
  if (status === 'autoexcluido') throw new Rejection('RG_BLOCKED', { reason: 'self_exclusion' })
  if (status !== 'ativo') throw new Rejection('PLAYER_NOT_ACTIVE', { status })
  if (kycStatus !== 'aprovado') throw new Rejection('KYC_NOT_APPROVED', { kycStatus })
}

/** @throws {Rejection} RG_BLOCKED when the day's deposits exceed the limit, which one that was lowered since may be */
export function admitDay({ dailyLimit, dayDeposits }: Pick<PlayStanding, 'dailyLimit' | 'dayDeposits'>): void {
  if (dailyLimit !== null && dayDeposits > dailyLimit) throw new Rejection('RG_BLOCKED', { reason: 'daily_limit' })
}

/** How long a demonstration may be played. */
export const demoSessionMs = 3_600_000
/** Fictitious, in minor units: 1,000.00. */
export const demoStartBalance = 100_000n
