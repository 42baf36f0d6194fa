import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { register } from '../domain/player.ts'
import { seen } from '../domain/responsible-gaming.ts'
import { findPlayersByExternalId, insertPlayers } from '../storage/players.ts'
import { publicPlayer } from '../views/player.ts'

/** Registers a player and opens the wallet. The reply is sent once the account is there. */
export const registerPlayer = handle(operations.players.registerPlayer, {
  apart: ({ input, scope }) => [`${scope.brandId} ${input.externalId}`],

  load(calls, { db }) {
    const keys = calls.map(({ input, scope }) => ({ brandId: scope.brandId, externalId: input.externalId }))
    return findPlayersByExternalId(db, keys)
  },

  decide({ input, scope }, existing, given) {
    const player = register(input, scope, given)
    if (existing !== undefined) throw new Rejection('PLAYER_ALREADY_EXISTS', { playerId: existing.id })
    const { id } = player
    return {
      // As the record begins. Whether its person is self-excluded is seen from then on.
      reply: publicPlayer(seen(player, [], given.now)),
      change: player,
      sends: [{ operation: operations.wallet.openAccount, aggregate: id, scope, input: { playerId: id } }],
    }
  },

  save: (players, { db }) => insertPlayers(db, players),
})
