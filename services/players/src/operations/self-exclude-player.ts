import { operations, Rejection } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { isLonger } from '../domain/responsible-gaming.ts'
import { lockPlayer, recordChange } from '../storage/players.ts'
import { teamPlayer } from '../views/player.ts'

const forGood = 'for good'

export const selfExcludePlayer = command(operations.players.selfExcludePlayer, {
  async execute({ input, actor }, { em, now }) {
    const player = await lockPlayer(em, input)
    const until = input.until === null ? null : new Date(input.until)
    if (!isLonger(player, until, now)) {
      const issues = [
        { path: '/until', message: 'must be in the future, and no earlier than the end of the exclusion that runs' },
      ]
      throw new Rejection('VALIDATION_ERROR', { in: 'body', issues })
    }
    const previous = player.selfExcludedFrom == null ? null : (player.selfExcludedUntil?.toISOString() ?? forGood)
    const next = input.until ?? forGood
    recordChange(em, {
      playerId: player.id,
      at: now,
      actor,
      field: 'selfExclusion',
      previous,
      next,
      reason: input.reason ?? null,
    })
    player.selfExcludedFrom ??= now
    // An exclusion that has ended begins anew.
    if (player.selfExcludedUntil != null && player.selfExcludedUntil <= now) player.selfExcludedFrom = now
    player.selfExcludedUntil = until
    return teamPlayer(player, now)
  },
})
