import { operations } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { submit } from '../domain/kyc.ts'
import { KycSubmissionEntity } from '../storage/entities.ts'
import { lockPlayer, recordChange } from '../storage/players.ts'
import { publicSubmission } from '../views/player.ts'

/** Registers a submission. It emits no event: the operator did it itself. */
export const submitKyc = command(operations.players.submitKyc, {
  async execute({ input, scope }, { em, now, newId }) {
    const player = await lockPlayer(em, { playerId: input.playerId, brandId: scope.brandId })
    const previous = player.kycStatus
    player.kycStatus = submit(previous)
    const submission = em.create(KycSubmissionEntity, {
      id: newId('kyc'),
      playerId: player.id,
      documentType: input.documentType,
      reference: input.reference,
      submittedAt: now,
    })
    if (player.kycStatus !== previous) {
      // An event that comes later must count as newer than this change.
      player.kycVersion += 1
      const change = { field: 'kycStatus', previous, next: player.kycStatus, reason: null } as const
      recordChange(em, { playerId: player.id, at: now, actor: scope.operatorId, ...change })
    }
    return { submission: publicSubmission(submission), kycStatus: player.kycStatus }
  },
})
