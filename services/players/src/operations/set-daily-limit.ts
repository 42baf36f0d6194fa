import { operations, toMinorUnits } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { setLimit } from '../domain/responsible-gaming.ts'
import { editPlayer } from '../steps/edit-player.ts'

export const setDailyLimit = handle(operations.players.setDailyLimit, {
  execute(call, tools) {
    const { dailyDepositLimit } = call.input
    const wished = dailyDepositLimit === null ? null : toMinorUnits(dailyDepositLimit)
    return editPlayer(call, tools, (player, now) => setLimit(player, wished, now))
  },
})
