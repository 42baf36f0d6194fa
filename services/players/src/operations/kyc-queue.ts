import { invalid, operations } from '@backoffice/contracts'
import { handle, toPage, withIsoTimes, withOperatorNames } from '@backoffice/service-runtime'
import { findSources } from '../storage/document-sources.ts'
import { findWaitingPlayers, type QueuePlace } from '../storage/kyc-submissions.ts'
import { requirePlayer, scopeOf } from '../storage/players.ts'
import { findTakenCases } from '../storage/taken-cases.ts'
import { documentUrl } from '../views/document-url.ts'
import { shownTakenCase } from '../views/taken-case.ts'

export const kycQueue = handle(operations.players.kycQueue, async (call, { db, rpc, now }) => {
  const { after: cursor, limit, ...filter } = call.input
  const after = cursor === undefined ? null : placeOf(cursor)
  const waiting = await findWaitingPlayers(db, { ...filter, after, limit: limit + 1 })
  const [sources, taken] = await Promise.all([
    findSources(db, waiting, call.caller.roles),
    findTakenCases(
      db,
      waiting.map(({ playerId }) => playerId),
    ),
  ])
  const shown = waiting.map((player) => ({
    ...withIsoTimes(player),
    documentUrl: documentUrl(sources, player, player.latestReference, now),
    taken: shownTakenCase(taken.get(player.playerId), now),
  }))
  const { data, nextCursor } = toPage(shown, limit, ({ waitingSince, playerId }) => `${waitingSince}/${playerId}`)
  const scope = waiting[0] && scopeOf(await requirePlayer(db, waiting[0].playerId))
  const { requestId, deadline } = call
  return { data: await withOperatorNames(data, { rpc, scope, requestId, deadline }), nextCursor }
})

function placeOf(cursor: string): QueuePlace {
  const [, time = '', playerId = ''] = /^([^/]+)\/([^/]+)$/.exec(cursor) ?? []
  const waitingSince = new Date(time)
  if (playerId === '' || Number.isNaN(waitingSince.getTime()))
    throw invalid('body', '/after', 'is not a cursor of the queue')
  return { waitingSince, playerId }
}
