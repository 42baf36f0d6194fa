import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { setStatus } from '../domain/player.ts'
import { editPlayer } from '../steps/edit-player.ts'
import { lockPlayer } from '../storage/players.ts'

export const setPlayerStatus = handle(operations.players.setPlayerStatus, {
  /** Nobody lifts a self-exclusion alone. */
  async approval({ input: { playerId, status } }, { db }) {
    const player = await lockPlayer(db, playerId)
    const isLifted = player.status === 'autoexcluido' && status !== 'autoexcluido'
    return player.environment === 'production' && isLifted ? 'second person' : 'nobody'
  },
  execute: (call, tools) => editPlayer(call, tools, (player) => setStatus(player, call.input.status)),
})
