import {
  type AuditedChange,
  fromMinorUnits,
  type Kyc,
  type Player,
  type PlayerStanding,
  type TeamPlayer,
} from '@backoffice/contracts'
import { withIsoTimes } from '@backoffice/service-runtime'
import type { KycSubmission } from '../kyc/records.ts'
import type { FieldChange, PlayerRecord } from './player.ts'
import { limitNow, type SeenPlayer } from './standing.ts'

/** The record as the API shows it. */
export function publicPlayer(player: SeenPlayer): Player {
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
export function standingOf(player: SeenPlayer): PlayerStanding {
  const { id: playerId, currency, status, kycStatus } = player
  return { playerId, currency, status, kycStatus, dailyDepositLimit: amountOf(limitNow(player, player.seenAt)) }
}

/** For the audit trail. */
export const auditedChange = ({ change }: { readonly change: FieldChange | null }): AuditedChange[] =>
  change === null ? [] : [{ field: change.field, before: change.previous, after: change.next }]

/** The record as the team sees it. */
export function teamPlayer(player: SeenPlayer): TeamPlayer {
  const { operatorId, brandId, environment, timeZone, statusSet, excludedBy } = player
  const { kycReason, kycDecidedAt, kycExpiresAt } = player
  const { selfExcludedFrom, selfExcludedUntil, pendingLimit, pendingLimitFrom } = player
  return {
    ...publicPlayer(player),
    ...withIsoTimes({ operatorId, brandId, environment, timeZone, statusSet, kycReason, kycDecidedAt, kycExpiresAt }),
    excludedBy,
    selfExclusion:
      selfExcludedFrom === null ? null : withIsoTimes({ from: selfExcludedFrom, until: selfExcludedUntil }),
    dailyDepositLimit: amountOf(limitNow(player, player.seenAt)),
    pendingLimit:
      pendingLimitFrom !== null && pendingLimitFrom > player.seenAt
        ? { dailyDepositLimit: amountOf(pendingLimit), from: pendingLimitFrom.toISOString() }
        : null,
  }
}

const amountOf = (limit: bigint | null) => (limit === null ? null : fromMinorUnits(limit))
