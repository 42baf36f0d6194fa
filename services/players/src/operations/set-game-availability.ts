import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { setAvailability } from '../storage/games.ts'

export const setGameAvailability = handle(operations.players.setGameAvailability, {
  async execute({ input: { brandId, gameId, available } }, { db }) {
    if (!(await setAvailability(db, { brandId, gameId, available }))) throw new Rejection('GAME_NOT_FOUND')
    return { gameId, available }
  },
})
