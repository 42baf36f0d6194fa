import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { setStatus } from '../domain/player.ts'
import { editPlayer } from '../steps/edit-player.ts'

export const setPlayerStatus = handle(operations.players.setPlayerStatus, {
  execute: (call, tools) => editPlayer(call, tools, (player) => setStatus(player, call.input.status)),
})
