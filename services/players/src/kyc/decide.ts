import type { Kyc, KycDecision } from '@backoffice/contracts'
import type { CommandTools } from '@backoffice/service-runtime'
import { decide } from '../domain/kyc.ts'
import { latestSubmissions, lockPlayer, recordChange } from '../storage/players.ts'
import { publicKyc } from '../views/player.ts'

/**
 * A decision of the team, or of the sandbox route in its place, with the event that tells the operator.
 * @throws {Rejection} PLAYER_NOT_FOUND
 */
export async function decidePlayersKyc(
  tools: CommandTools,
  decision: { playerId: string; brandId: string; status: KycDecision; reason: string | null; actor: string },
): Promise<Kyc> {
  const { em, now, emit } = tools
  const player = await lockPlayer(em, decision)
  const submissions = await latestSubmissions(em, player.id)
  const decided = decide(player, decision.status)
  if (decided === null) return publicKyc(player, submissions)

  const previousStatus = player.kycStatus
  player.kycStatus = decided.status
  player.kycVersion = decided.version
  player.kycDecidedAt = now
  player.kycReason = decision.reason
  const { actor, reason } = decision
  recordChange(em, {
    playerId: player.id,
    at: now,
    actor,
    field: 'kycStatus',
    previous: previousStatus,
    next: decided.status,
    reason,
  })
  const kyc = publicKyc(player, submissions)
  emit({
    kind: 'kyc.status_changed',
    aggregate: player.id,
    scope: player,
    data: { ...kyc, previousStatus, version: decided.version },
  })
  return kyc
}
