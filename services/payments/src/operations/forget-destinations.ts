import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { forgetDestinations as forget } from '../storage/player-records.ts'

/** A command of players' outbox, which no one can refuse: players has seen that no withdrawal is open. */
export const forgetDestinations = handle(operations.payments.forgetDestinations, async ({ input, scope }, { db }) => {
  await forget(db, { brandId: scope.brandId, playerId: input.playerId })
  return { playerId: input.playerId }
})
