import { operations } from '@backoffice/contracts'
import { Loop } from '@backoffice/process'
import { byService, insertAudit, type ServiceContext } from '@backoffice/service-runtime'
import { expire } from '../domain/kyc.ts'
import { kycEvents, saveKycChanges } from '../steps/change-kyc.ts'
import { latestSubmissions } from '../storage/kyc-submissions.ts'
import { lockEndedApprovals } from '../storage/players.ts'
import { auditedChange, publicKyc } from '../views/player.ts'

const batchMax = 100

/** Who the history and the audit trail say it was. */
const actor = 'players'

/**
 * Writes down that approvals have ended, and sends the event of each, in one transaction. Everybody reads `expirado` from
 * the end on, so nothing depends on when this runs.
 * @returns how many had ended
 */
export function sweepApprovals({ transact }: Pick<ServiceContext, 'transact'>): Promise<number> {
  return transact(async ({ db, now, newId, emit }) => {
    const ended = await lockEndedApprovals(db, batchMax)
    if (ended.length === 0) return 0
    const expired = ended.map(expire)
    const ids = ended.map(({ id }) => id)
    const submissions = await latestSubmissions(db, ids, 1)
    const made = expired.map((one) => ({ ...one, actor, reason: one.player.kycReason }))
    const trail = made.map((one) => {
      const [id, { id: subject }] = [newId('aud'), one.player]
      const what = { actor, operation: operations.players.decideKyc.id, operationId: id, subject, reason: one.reason }
      const input = { playerId: subject, status: one.player.kycStatus }
      return { id, ...byService, ...what, input, changes: auditedChange(one) }
    })
    await Promise.all([saveKycChanges(db, made, now), insertAudit(db, trail, now)])
    for (const [index, one] of expired.entries())
      for (const event of kycEvents(one, publicKyc(one.player, submissions[index] ?? []))) emit(event)
    return ended.length
  })
}

/** Sweeps every `everyMs`, and again at once while there is more than one batch. */
export const approvalSweeper = (context: ServiceContext, everyMs: number): Loop =>
  new Loop({
    name: 'sweeping ended approvals',
    log: context.log,
    everyMs,
    firstAfterMs: everyMs,
    run: async () => (await sweepApprovals(context)) >= batchMax,
  })
