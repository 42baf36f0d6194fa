import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { latestSubmissions } from '../storage/kyc-submissions.ts'
import { seePlayers } from '../storage/persons.ts'
import { findPlayers, playerOf } from '../storage/players.ts'
import { publicKyc } from '../views/player.ts'

export const getKyc = handle(operations.players.getKyc, {
  async read(calls, { db }) {
    const keys = calls.map(playerOf)
    const ids = keys.map(({ playerId }) => playerId)
    const [stored, submissions] = await Promise.all([findPlayers(db, keys), latestSubmissions(db, ids)])
    const players = await seePlayers(db, stored)
    return players.map((player, index) =>
      player === undefined ? new Rejection('PLAYER_NOT_FOUND') : publicKyc(player, submissions[index] ?? []),
    )
  },
})
