import { operations } from '@backoffice/contracts'
import { fitting, handle, withIsoTimes } from '@backoffice/service-runtime'
import { latestSubmissions } from '../storage/kyc-submissions.ts'
import { latestChanges } from '../storage/player-changes.ts'
import { requirePlayer } from '../storage/players.ts'
import { publicSubmission, teamPlayer } from '../views/player.ts'

export const showPlayer = handle(operations.players.showPlayer, async ({ input: { playerId } }, { db, now }) => {
  const player = await requirePlayer(db, playerId)
  const [[submissions = []], changes] = await Promise.all([
    latestSubmissions(db, [playerId]),
    latestChanges(db, playerId),
  ])
  return {
    ...teamPlayer(player, now),
    submissions: submissions.map(publicSubmission),
    changes: fitting(
      changes.map(({ at, actor, field, previous, next, reason }) =>
        withIsoTimes({ at, actor, field, from: previous, to: next, reason }),
      ),
    ),
  }
})
