import {
  type AuditedChange,
  fromMinorUnits,
  type Kyc,
  type Player,
  type PlayerStanding,
  type TeamPlayer,
} from '@backoffice/contracts'
import { withIsoTimes } from '@backoffice/service-runtime'
import type { FieldChange, PlayerRecord } from '../domain/player.ts'
import { isSelfExcluded, limitNow } from '../domain/responsible-gaming.ts'
import type { KycSubmission } from '../storage/kyc-submissions.ts'

/** The record as the API shows it. */
export function publicPlayer(player: PlayerRecord): Player {
  const { id, externalId, name, email, cpf, phone, birthDate, status, kycStatus, currency, createdAt } = player
  return withIsoTimes({
    ...{ id, externalId, name, email, cpf, phone, birthDate, status, kycStatus, currency, createdAt },
  })
}

export const publicSubmission = ({ playerId, ...submission }: KycSubmission) => withIsoTimes(submission)

export function publicKyc(player: PlayerRecord, submissions: readonly KycSubmission[]): Kyc {
  return {
    playerId: player.id,
    kycStatus: player.kycStatus,
    submissions: submissions.map(publicSubmission),
    decidedAt: player.kycDecidedAt?.toISOString() ?? null,
    reason: player.kycReason,
  }
}

/** What payments needs to know about a player now. */
export function standingOf(player: PlayerRecord, now: Date): PlayerStanding {
  const { id: playerId, currency, status, kycStatus } = player
  const dailyDepositLimit = amountOf(limitNow(player, now))
  return { playerId, currency, status, kycStatus, selfExcluded: isSelfExcluded(player, now), dailyDepositLimit }
}

/** The record as the team sees it. */
/** For the audit trail. */
export const auditedChange = ({ change }: { readonly change: FieldChange | null }): AuditedChange[] =>
  change === null ? [] : [{ field: change.field, before: change.previous, after: change.next }]

export function teamPlayer(player: PlayerRecord, now: Date): TeamPlayer {
  const { operatorId, brandId, environment, timeZone, kycReason, kycDecidedAt } = player
  const { selfExcludedFrom, selfExcludedUntil, pendingLimit, pendingLimitFrom } = player
  return {
    ...publicPlayer(player),
    ...withIsoTimes({ operatorId, brandId, environment, timeZone, kycReason, kycDecidedAt }),
    selfExclusion:
      selfExcludedFrom === null ? null : withIsoTimes({ from: selfExcludedFrom, until: selfExcludedUntil }),
    dailyDepositLimit: amountOf(limitNow(player, now)),
    pendingLimit:
      pendingLimitFrom !== null && pendingLimitFrom > now
        ? { dailyDepositLimit: amountOf(pendingLimit), from: pendingLimitFrom.toISOString() }
        : null,
  }
}

const amountOf = (limit: bigint | null) => (limit === null ? null : fromMinorUnits(limit))
