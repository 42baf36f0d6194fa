import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { kycAt, submit } from '../domain/kyc.ts'
import { saveKycChanges } from '../steps/change-kyc.ts'
import { insertSubmissions } from '../storage/kyc-submissions.ts'
import { lockPlayers, playerOf } from '../storage/players.ts'
import { publicSubmission } from '../views/player.ts'

/** Registers a submission. It sends no event, because the operator made the change itself. */
export const submitKyc = handle(operations.players.submitKyc, {
  apart: ({ input }) => [input.playerId],

  load: (calls, { db }) => lockPlayers(db, calls.map(playerOf)),

  decide({ input, scope }, player, { now, newId }) {
    if (player === undefined) throw new Rejection('PLAYER_NOT_FOUND')
    const submitted = submit(kycAt(player, now))
    const { playerId, documentType, reference } = input
    const submission = { id: newId('kyc'), playerId, documentType, reference, submittedAt: now }
    return {
      reply: { submission: publicSubmission(submission), kycStatus: submitted.player.kycStatus },
      change: { submission, kyc: { ...submitted, actor: scope.operatorId, reason: null } },
    }
  },

  async save(changes, { db, now }) {
    const submissions = changes.map(({ submission }) => submission)
    const made = changes.map(({ kyc }) => kyc)
    await Promise.all([insertSubmissions(db, submissions), saveKycChanges(db, made, now)])
  },
})
