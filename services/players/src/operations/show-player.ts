import { operations } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { findPlayer, latestChanges, latestSubmissions } from '../storage/players.ts'
import { publicSubmission, teamPlayer } from '../views/player.ts'

export const showPlayer = query(operations.players.showPlayer, async ({ input }, { em, now }) => {
  const player = await findPlayer(em, input)
  const submissions = await latestSubmissions(em, player.id)
  const changes = await latestChanges(em, player.id)
  return {
    ...teamPlayer(player, now),
    submissions: submissions.map(publicSubmission),
    changes: changes.map(({ at, actor, field, previous, next, reason }) => ({
      at: at.toISOString(),
      actor,
      field,
      from: previous ?? null,
      to: next ?? null,
      reason: reason ?? null,
    })),
  }
})
