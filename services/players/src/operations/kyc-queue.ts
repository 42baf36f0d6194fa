import { invalid, operations } from '@backoffice/contracts'
import { handle, toPage, withIsoTimes, withOperatorNames } from '@backoffice/service-runtime'
import { findWaitingPlayers, type QueuePlace } from '../storage/kyc-submissions.ts'
import { requirePlayer, scopeOf } from '../storage/players.ts'

export const kycQueue = handle(operations.players.kycQueue, async (call, { db, rpc }) => {
  const { after: cursor, limit, ...filter } = call.input
  const after = cursor === undefined ? null : placeOf(cursor)
  const waiting = await findWaitingPlayers(db, { ...filter, after, limit: limit + 1 })
  const { data, nextCursor } = toPage(
    waiting.map(withIsoTimes),
    limit,
    ({ waitingSince, playerId }) => `${waitingSince}/${playerId}`,
  )
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
