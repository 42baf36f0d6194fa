import { invalid, operations } from '@backoffice/contracts'
import { handle, toPage, withIsoTimes } from '@backoffice/service-runtime'
import { findWaitingPlayers, type QueuePlace } from '../storage/kyc-submissions.ts'

export const kycQueue = handle(operations.players.kycQueue, async ({ input }, { db }) => {
  const { brandId = null, limit } = input
  const after = input.after === undefined ? null : placeOf(input.after)
  const waiting = await findWaitingPlayers(db, { brandId, after, limit: limit + 1 })
  return toPage(waiting.map(withIsoTimes), limit, ({ waitingSince, playerId }) => `${waitingSince}/${playerId}`)
})

function placeOf(cursor: string): QueuePlace {
  const [, time = '', playerId = ''] = /^([^/]+)\/([^/]+)$/.exec(cursor) ?? []
  const waitingSince = new Date(time)
  if (playerId === '' || Number.isNaN(waitingSince.getTime()))
    throw invalid('body', '/after', 'is not a cursor of the queue')
  return { waitingSince, playerId }
}
