import { fromMinorUnits, operations, toMinorUnits } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { changeLimit, limitNow } from '../domain/responsible-gaming.ts'
import { lockPlayer, recordChange } from '../storage/players.ts'
import { teamPlayer } from '../views/player.ts'

export const setDailyLimit = command(operations.players.setDailyLimit, {
  async execute({ input, actor }, { em, now }) {
    const player = await lockPlayer(em, input)
    const wished = input.dailyDepositLimit === null ? null : toMinorUnits(input.dailyDepositLimit)
    const current = limitNow(player, now)
    recordChange(em, {
      playerId: player.id,
      at: now,
      actor,
      field: 'dailyDepositLimit',
      previous: current === null ? null : fromMinorUnits(current),
      next: wished === null ? null : fromMinorUnits(wished),
      reason: input.reason ?? null,
    })
    Object.assign(player, changeLimit(player, wished, now))
    return teamPlayer(player, now)
  },
})
