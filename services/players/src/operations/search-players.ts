import { type Input, invalid, operations } from '@backoffice/contracts'
import { handle, toPage, withOperatorNames } from '@backoffice/service-runtime'
import { nameWords } from '../domain/name-words.ts'
import { seePlayers } from '../storage/persons.ts'
import { type SearchedBy, scopeOf, searchPlayers as search } from '../storage/players.ts'
import { teamPlayer } from '../views/player.ts'

/** The runtime masks what is found, and records a search with a reason before it is answered. */
export const searchPlayers = handle(operations.players.searchPlayers, async (call, { db, rpc }) => {
  const { operatorId, brandId, environment, before, limit } = call.input
  const filter = { operatorId, brandId, environment, before }
  const found = await search(db, { by: searchedBy(call.input), ...filter, limit: limit + 1 })
  const players = (await seePlayers(db, found)).map(teamPlayer)
  const { data, nextCursor } = toPage(players, limit, ({ id }) => id)
  const { requestId, deadline } = call
  const scope = found[0] && scopeOf(found[0])
  return { data: await withOperatorNames(data, { rpc, scope, requestId, deadline }), nextCursor }
})

type Given = Input<typeof operations.players.searchPlayers>

/** @throws {Rejection} VALIDATION_ERROR */
function searchedBy({ playerId, externalId, name, reason, ...secret }: Given): SearchedBy {
  const { cpf, email, phone } = secret
  const given = [playerId, externalId, cpf, email, phone, name].filter((value) => value !== undefined)
  if (given.length !== 1)
    throw invalid('body', '', 'must have exactly one of playerId, externalId, cpf, email, phone and name')
  if (playerId !== undefined) return { playerId }
  if (externalId !== undefined) return { externalId }
  if (name !== undefined) {
    const words = nameWords(name)
    if (words.length === 0) throw invalid('body', '/name', 'has no letter and no digit')
    return { words }
  }
  if (reason === undefined) throw invalid('body', '/reason', 'is required with cpf, email or phone')
  if (cpf !== undefined) return { cpf }
  return email === undefined ? { phone: phone ?? '' } : { email }
}
