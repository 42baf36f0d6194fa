import { operations, Rejection } from '@backoffice/contracts'
import { handle, readNow } from '@backoffice/service-runtime'
import { findPlayers, playerOf } from '../storage/players.ts'
import { standingOf } from '../views/player.ts'

export const getPlayerStanding = handle(operations.players.getPlayerStanding, {
  /** When an exclusion ends and a higher limit begins is judged by the clock that all replicas share. */
  async read(calls, { db }) {
    const [players, now] = await Promise.all([findPlayers(db, calls.map(playerOf)), readNow(db)])
    return players.map((player) => (player === undefined ? new Rejection('PLAYER_NOT_FOUND') : standingOf(player, now)))
  },
})
