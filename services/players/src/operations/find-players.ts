import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { seePlayers } from '../storage/persons.ts'
import { findPlayersByExternalId } from '../storage/players.ts'
import { publicPlayer } from '../views/player.ts'

export const findPlayers = handle(operations.players.findPlayers, {
  async read(calls, { db }) {
    const keys = calls.map(({ input, scope }) => ({ brandId: scope.brandId, externalId: input.externalId }))
    const players = await seePlayers(db, await findPlayersByExternalId(db, keys))
    return players.map((player) => ({ data: player === undefined ? [] : [publicPlayer(player)] }))
  },
})
