import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { selfExclude } from '../domain/responsible-gaming.ts'
import { editPlayer } from '../steps/edit-player.ts'

export const selfExcludePlayer = handle(operations.players.selfExcludePlayer, {
  execute(call, tools) {
    const until = call.input.until === null ? null : new Date(call.input.until)
    return editPlayer(call, tools, (player, now) => selfExclude(player, until, now))
  },
})
