import { fromMinorUnits, type Kyc, type Player, type TeamPlayer } from '@backoffice/contracts'
import type { InferEntity } from '@mikro-orm/postgresql'
import { limitNow } from '../domain/responsible-gaming.ts'
import type { KycSubmissionEntity, PlayerRow } from '../storage/entities.ts'

/** The record as the API shows it. */
export function publicPlayer(player: PlayerRow): Player {
  return {
    id: player.id,
    externalId: player.externalId,
    name: player.name,
    email: player.email,
    cpf: player.cpf,
    phone: player.phone ?? null,
    birthDate: player.birthDate,
    status: player.status,
    kycStatus: player.kycStatus,
    currency: player.currency,
    createdAt: player.createdAt.toISOString(),
  }
}

type Submission = InferEntity<typeof KycSubmissionEntity>

export function publicSubmission({ id, documentType, reference, submittedAt }: Submission) {
  return { id, documentType, reference, submittedAt: submittedAt.toISOString() }
}

export function publicKyc(player: PlayerRow, submissions: readonly Submission[]): Kyc {
  return {
    playerId: player.id,
    kycStatus: player.kycStatus,
    submissions: submissions.map(publicSubmission),
    decidedAt: player.kycDecidedAt?.toISOString() ?? null,
    reason: player.kycReason ?? null,
  }
}

/** The record as the team sees it. */
export function teamPlayer(player: PlayerRow, now: Date): TeamPlayer {
  const { selfExcludedFrom, selfExcludedUntil, pendingLimit, pendingLimitFrom } = player
  const limit = limitNow(player, now)
  const waits = pendingLimitFrom != null && pendingLimitFrom > now
  return {
    ...publicPlayer(player),
    operatorId: player.operatorId,
    brandId: player.brandId,
    environment: player.environment,
    timeZone: player.timeZone,
    kycDecidedAt: player.kycDecidedAt?.toISOString() ?? null,
    kycReason: player.kycReason ?? null,
    selfExclusion:
      selfExcludedFrom == null
        ? null
        : { from: selfExcludedFrom.toISOString(), until: selfExcludedUntil?.toISOString() ?? null },
    dailyDepositLimit: limit === null ? null : fromMinorUnits(limit),
    pendingLimit: waits
      ? {
          dailyDepositLimit: pendingLimit == null ? null : fromMinorUnits(pendingLimit),
          from: pendingLimitFrom.toISOString(),
        }
      : null,
  }
}
