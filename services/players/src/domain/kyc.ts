import { type KycDecision, type KycStatus, Rejection } from '@backoffice/contracts'
import type { Changed, PlayerRecord } from './player.ts'

type KycRecord = Pick<PlayerRecord, 'kycStatus' | 'kycVersion' | 'kycDecidedAt' | 'kycReason' | 'kycExpiresAt'>

/**
 * A submission: whatever the status was, the documents are now under analysis.
 * @throws {Rejection} KYC_ALREADY_APPROVED
 */
export function submit<P extends KycRecord>(player: P): Changed<P> {
  if (player.kycStatus === 'aprovado') throw new Rejection('KYC_ALREADY_APPROVED')
  return moveTo(player, 'em_analise')
}

/** The end of an approval, as the operator reads it. */
export const expiredReason = 'the approval has ended'

/** An approval ends. */
export function expire<P extends KycRecord>(player: P): Changed<P> {
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
): Changed<P> {
  const { status, reason, termMs } = decision
  const { player: moved, change } = moveTo(player, status)
  if (change === null) return { player, change }
  const kycExpiresAt = status === 'aprovado' && termMs !== null ? new Date(now.getTime() + termMs) : null
  return { player: { ...moved, kycDecidedAt: now, kycReason: reason, kycExpiresAt }, change }
}

/**
 * The version rises with every change, even with one that sends no event, so that a later event has a higher version.
 */
function moveTo<P extends KycRecord>(player: P, next: KycStatus): Changed<P> {
  const { kycStatus: previous, kycVersion } = player
  if (previous === next) return { player, change: null }
  return {
    player: { ...player, kycStatus: next, kycVersion: kycVersion + 1, kycExpiresAt: null },
    change: { field: 'kycStatus', previous, next },
  }
}
