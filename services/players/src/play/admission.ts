// Rules.

import { type IdOf, type Input, type operations, Rejection, type Scope } from '@backoffice/contracts'
import { admitPerson, type PlayStanding } from '../games/play.ts'

/** What a bet and a spin have in common. */
export type Stake = Pick<Input<typeof operations.players.placeBet>, 'sessionId' | 'playerId' | 'gameId'>

export type StakingProvider = NonNullable<Scope['provider']>

/** What was read for a stake, after it had arrived. */
export interface StakeFacts {
  /** Of the session that the stake names, in this brand. */
  readonly session: StakedSession | undefined
  /** Of the game that it names. */
  readonly game: { readonly rtp: string; readonly inCatalogue: boolean } | undefined
  /** Undefined: the brand has no such player, which the wallet says. */
  readonly player: Pick<PlayStanding, 'status' | 'kycStatus' | 'dailyLimit'> | undefined
  readonly now: Date
}

export interface StakedSession {
  readonly playerId: IdOf<'player'>
  readonly gameId: string
  /** Who serves its game; null: nobody. */
  readonly providerId: IdOf<'provider'> | null
  readonly expiresAt: Date
}

/**
 * Whether a stake is admitted, but for the day's deposits, which are asked for where this refuses nothing.
 * @throws {Rejection} in this order: SESSION_NOT_FOUND, GAME_NOT_FOUND, OPERATOR_SUSPENDED or PROVIDER_SUSPENDED, RG_BLOCKED
 *   (self-exclusion), PLAYER_NOT_ACTIVE, KYC_NOT_APPROVED, SESSION_EXPIRED
 */
export function admitStake(stake: Stake, provider: StakingProvider, { session, game, player, now }: StakeFacts): void {
  if (session?.playerId !== stake.playerId || session.providerId !== provider.id || player === undefined)
    throw new Rejection('SESSION_NOT_FOUND')
  if (session.gameId !== stake.gameId || game?.inCatalogue !== true) throw new Rejection('GAME_NOT_FOUND')
  if (provider.stakesRefusedWith !== undefined) throw new Rejection(provider.stakesRefusedWith)
  admitPerson(player)
  if (now >= session.expiresAt) throw new Rejection('SESSION_EXPIRED')
}
