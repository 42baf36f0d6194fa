import { operations } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { lockPlayer, recordChange } from '../storage/players.ts'
import { teamPlayer } from '../views/player.ts'

/** The status says what a player may do now; a self-exclusion by dates runs on whatever it says. */
export const setPlayerStatus = command(operations.players.setPlayerStatus, {
  async execute({ input, actor }, { em, now }) {
    const player = await lockPlayer(em, input)
    const { status: next, reason } = input
    if (player.status !== next) {
      recordChange(em, { playerId: player.id, at: now, actor, field: 'status', previous: player.status, next, reason })
      player.status = next
    }
    return teamPlayer(player, now)
  },
})
