import { type KycDecision, type KycStatus, Rejection } from '@backoffice/contracts'
import type { Changed, PlayerRecord } from './player.ts'

type KycRecord = Pick<PlayerRecord, 'kycStatus' | 'kycVersion' | 'kycDecidedAt' | 'kycReason'>

/**
 * A submission: whatever the status was, the documents are now under analysis.
 * @throws {Rejection} KYC_ALREADY_APPROVED
 */
export function submit<P extends KycRecord>(player: P): Changed<P> {
  if (player.kycStatus === 'aprovado') throw new Rejection('KYC_ALREADY_APPROVED')
  return moveTo(player, 'em_analise')
}

/** A decision. The same status again changes nothing and sends no event. */
export function decide<P extends KycRecord>(
  player: P,
  { status, reason }: { readonly status: KycDecision; readonly reason: string | null },
  now: Date,
): Changed<P> {
  const { player: moved, change } = moveTo(player, status)
  return change === null ? { player, change } : { player: { ...moved, kycDecidedAt: now, kycReason: reason }, change }
}

/**
 * The version rises with every change, even with one that sends no event, so that a later event has a higher version.
 */
function moveTo<P extends KycRecord>(player: P, next: KycStatus): Changed<P> {
  const { kycStatus: previous, kycVersion } = player
  if (previous === next) return { player, change: null }
  return {
    player: { ...player, kycStatus: next, kycVersion: kycVersion + 1 },
    change: { field: 'kycStatus', previous, next },
  }
}
