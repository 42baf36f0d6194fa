import type { Kyc, TakenCase as PublicTakenCase } from '@backoffice/contracts'
import { withIsoTimes } from '@backoffice/service-runtime'
import type { PlayerRecord } from '../players/player.ts'
import { forgottenReference, type KycSubmission, type SourceKey, sourceOf } from './records.ts'
import { documentLink, type TakenCase, takenNow, takenUntil } from './review.ts'

type Sources = Parameters<typeof sourceOf>[0]

/** Where a document opens for a reviewer; null where there is no link. */
export function documentUrl(sources: Sources, owner: SourceKey, reference: string, now: Date): string | null {
  const source = sourceOf(sources, owner)
  return source === undefined || reference === forgottenReference ? null : documentLink(source, reference, now)
}

/** Who has a case now; null where nobody has it. */
export function shownTakenCase(taken: TakenCase | undefined, now: Date): PublicTakenCase | null {
  const current = takenNow(taken, now)
  return current === undefined
    ? null
    : withIsoTimes({ by: current.takenBy, at: current.takenAt, until: takenUntil(current) })
}

export const publicSubmission = ({ id, documentType, reference, submittedAt }: KycSubmission) =>
  withIsoTimes({ id, documentType, reference, submittedAt })

export function publicKyc(player: PlayerRecord, submissions: readonly KycSubmission[]): Kyc {
  return {
    playerId: player.id,
    kycStatus: player.kycStatus,
    submissions: submissions.map(publicSubmission),
    decidedAt: player.kycDecidedAt?.toISOString() ?? null,
    reason: player.kycReason,
  }
}
