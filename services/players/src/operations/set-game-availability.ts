import { operations } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { setAvailability } from '../storage/games.ts'

export const setGameAvailability = command(operations.players.setGameAvailability, {
  async execute({ input: { brandId, gameId, available } }, { sql }) {
    await setAvailability(sql, { brandId, gameId, available })
    return { gameId, available }
  },
})
