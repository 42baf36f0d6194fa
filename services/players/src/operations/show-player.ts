import { operations } from '@backoffice/contracts'
import { fitting, handle, withIsoTimes } from '@backoffice/service-runtime'
import { findSources, sourceOf } from '../storage/document-sources.ts'
import { latestSubmissions } from '../storage/kyc-submissions.ts'
import { seePlayer } from '../storage/persons.ts'
import { latestChanges } from '../storage/player-changes.ts'
import { requirePlayer } from '../storage/players.ts'
import { findTakenCases } from '../storage/taken-cases.ts'
import { documentUrl } from '../views/document-url.ts'
import { publicSubmission, teamPlayer } from '../views/player.ts'
import { shownTakenCase } from '../views/taken-case.ts'

export const showPlayer = handle(
  operations.players.showPlayer,
  async ({ input: { playerId }, caller }, { db, now }) => {
    const player = await seePlayer(db, await requirePlayer(db, playerId))
    const [[submissions = []], changes, sources, taken] = await Promise.all([
      latestSubmissions(db, [playerId]),
      latestChanges(db, playerId),
      findSources(db, [player], caller.roles),
      findTakenCases(db, [playerId]),
    ])
    return {
      ...teamPlayer(player),
      taken: shownTakenCase(taken.get(playerId), now),
      documentSourceChangedAt: sourceOf(sources, player)?.changedAt?.toISOString() ?? null,
      submissions: submissions.map((submission) => ({
        ...publicSubmission(submission),
        documentUrl: documentUrl(sources, player, submission.reference, now),
      })),
      changes: fitting(
        changes.map(({ at, actor, field, previous, next, reason }) =>
          withIsoTimes({ at, actor, field, from: previous, to: next, reason }),
        ),
      ),
    }
  },
)
