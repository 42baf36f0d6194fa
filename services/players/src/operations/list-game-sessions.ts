import { operations } from '@backoffice/contracts'
import { handle, toPage, withIsoTimes } from '@backoffice/service-runtime'
import { listSessions } from '../storage/game-sessions.ts'
import { requirePlayer } from '../storage/players.ts'

export const listGameSessions = handle(operations.players.listGameSessions, async ({ input }, { db }) => {
  const { playerId, before, limit } = input
  await requirePlayer(db, playerId)
  const sessions = await listSessions(db, { playerId, before, limit: limit + 1 })
  return toPage(sessions.map(withIsoTimes), limit, ({ id }) => id)
})
