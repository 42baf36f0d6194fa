// Rules.

import {
  fromMinorUnits,
  invalid,
  type KycDecision,
  type KycStatus,
  type PlayerStatus,
  Rejection,
} from '@backoffice/contracts'
import type { ChangedPlayer, PlayerRecord } from './player.ts'

const coolingOffMs = 24 * 3_600_000

type Exclusion = Pick<PlayerRecord, 'status' | 'selfExcludedFrom' | 'selfExcludedUntil'>

/** Whether the player is self-excluded now, by dates or by status. */
export function isSelfExcluded({ status, selfExcludedFrom, selfExcludedUntil }: Exclusion, now: Date): boolean {
  if (status === 'autoexcluido') return true
  // It begins with the wish, so by a clock that has gone back it runs as well.
  return selfExcludedFrom !== null && (selfExcludedUntil === null || now < selfExcludedUntil)
}

/** What a player says about the self-exclusion of its person. */
export type PersonExclusion = Exclusion & Pick<PlayerRecord, 'id'>

/** A player as everybody sees it at a moment: what has run out by then counts no longer. */
export interface SeenPlayer extends PlayerRecord {
  /** The moment. */
  readonly seenAt: Date
  /** What was set, and is seen again when no self-exclusion runs. */
  readonly statusSet: PlayerStatus
  /** The player by which the person is self-excluded: this one, or another of the brand's with the same CPF. */
  readonly excludedBy: string | null
}

/** @param others the brand's players of the same person */
export function seen(player: PlayerRecord, others: readonly PersonExclusion[], now: Date): SeenPlayer {
  const excludedBy = [player, ...others].find((one) => isSelfExcluded(one, now))?.id ?? null
  const { status: statusSet } = player
  const status = excludedBy === null ? statusSet : 'autoexcluido'
  return { ...kycAt(player, now), seenAt: now, status, statusSet, excludedBy }
}

const forGood = 'for good'

/**
 * Excludes a player until a time, or for good (null). A running exclusion gets a later end. One that has ended begins
 * again.
 * @throws {Rejection} VALIDATION_ERROR when `until` is in the past, or would make the running exclusion shorter
 */
export function selfExclude<P extends Exclusion>(player: P, until: Date | null, now: Date): ChangedPlayer<P> {
  if (!isLonger(player, until, now)) {
    throw invalid('body', '/until', 'must be in the future, and no earlier than the end of the exclusion that runs')
  }
  const { selfExcludedFrom, selfExcludedUntil } = player
  const hasEnded = selfExcludedUntil !== null && selfExcludedUntil <= now
  const from = selfExcludedFrom === null || hasEnded ? now : selfExcludedFrom
  return {
    player: { ...player, selfExcludedFrom: from, selfExcludedUntil: until },
    change: {
      field: 'selfExclusion',
      previous: selfExcludedFrom === null ? null : (selfExcludedUntil?.toISOString() ?? forGood),
      next: until?.toISOString() ?? forGood,
    },
  }
}

/** Whether `until` is later than the end of the running exclusion; null means for good. */
export function isLonger(exclusion: Exclusion, until: Date | null, now: Date): boolean {
  if (until !== null && until <= now) return false
  if (!isSelfExcluded({ ...exclusion, status: 'ativo' }, now)) return true
  if (exclusion.selfExcludedUntil === null) return until === null
  return until === null || until >= exclusion.selfExcludedUntil
}

type DailyLimit = Pick<PlayerRecord, 'dailyDepositLimit' | 'pendingLimit' | 'pendingLimitFrom'>

/** The limit that holds now, in minor units; null means no limit. */
export function limitNow({ dailyDepositLimit, pendingLimit, pendingLimitFrom }: DailyLimit, now: Date): bigint | null {
  return pendingLimitFrom !== null && now >= pendingLimitFrom ? pendingLimit : dailyDepositLimit
}

/**
 * A first limit or a lower one holds at once. A higher one, or none, holds only after the cooling-off. A later wish
 * replaces one that still waits.
 * @param wished in minor units; null: no limit
 */
export function setLimit<P extends DailyLimit>(player: P, wished: bigint | null, now: Date): ChangedPlayer<P> {
  const current = limitNow(player, now)
  const tightens = current === null || (wished !== null && wished <= current)
  const next = tightens
    ? { dailyDepositLimit: wished, pendingLimit: null, pendingLimitFrom: null }
    : {
        dailyDepositLimit: current,
        pendingLimit: wished,
        pendingLimitFrom: new Date(now.getTime() + coolingOffMs),
      }
  return {
    player: { ...player, ...next },
    change: { field: 'dailyDepositLimit', previous: amountOf(current), next: amountOf(wished) },
  }
}

const amountOf = (limit: bigint | null) => (limit === null ? null : fromMinorUnits(limit))

type KycRecord = Pick<PlayerRecord, 'kycStatus' | 'kycVersion' | 'kycDecidedAt' | 'kycReason' | 'kycExpiresAt'>

/**
 * A submission: whatever the status was, the documents are now under analysis.
 * @throws {Rejection} KYC_ALREADY_APPROVED
 */
export function submit<P extends KycRecord>(player: P): ChangedPlayer<P> {
  if (player.kycStatus === 'aprovado') throw new Rejection('KYC_ALREADY_APPROVED')
  return moveTo(player, 'em_analise')
}

/** The end of an approval, as the operator reads it. */
export const expiredReason = 'the approval has ended'

/** An approval ends. */
export function expire<P extends KycRecord>(player: P): ChangedPlayer<P> {
  const { player: expired, change } = moveTo(player, 'expirado')
  return { player: { ...expired, kycReason: expiredReason }, change }
}

/** The record as it is at a moment: an approval ends with its term, whether that was written down yet or not. */
export function kycAt<P extends KycRecord>(player: P, now: Date): P {
  const { kycStatus, kycExpiresAt } = player
  const hasEnded = kycStatus === 'aprovado' && kycExpiresAt !== null && now >= kycExpiresAt
  return hasEnded ? expire(player).player : player
}

/**
 * A decision. The same status again changes nothing and sends no event.
 * @param termMs how long an approval holds; null: until the next decision
 */
export function decide<P extends KycRecord>(
  player: P,
  decision: { readonly status: KycDecision; readonly reason: string | null; readonly termMs: number | null },
  now: Date,
): ChangedPlayer<P> {
  const { status, reason, termMs } = decision
  const { player: moved, change } = moveTo(player, status)
  if (change === null) return { player, change }
  const kycExpiresAt = status === 'aprovado' && termMs !== null ? new Date(now.getTime() + termMs) : null
  return { player: { ...moved, kycDecidedAt: now, kycReason: reason, kycExpiresAt }, change }
}

/**
 * The version rises with every change, even with one that sends no event, so that a later event has a higher version.
 */
function moveTo<P extends KycRecord>(player: P, next: KycStatus): ChangedPlayer<P> {
  const { kycStatus: previous, kycVersion } = player
  if (previous === next) return { player, change: null }
  return {
    player: { ...player, kycStatus: next, kycVersion: kycVersion + 1, kycExpiresAt: null },
    change: { field: 'kycStatus', previous, next },
  }
}
