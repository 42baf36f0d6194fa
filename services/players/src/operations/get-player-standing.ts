import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { seePlayers } from '../storage/persons.ts'
import { findPlayers, playerOf } from '../storage/players.ts'
import { standingOf } from '../views/player.ts'

export const getPlayerStanding = handle(operations.players.getPlayerStanding, {
  async read(calls, { db }) {
    const players = await seePlayers(db, await findPlayers(db, calls.map(playerOf)))
    return players.map((player) => (player === undefined ? new Rejection('PLAYER_NOT_FOUND') : standingOf(player)))
  },
})
