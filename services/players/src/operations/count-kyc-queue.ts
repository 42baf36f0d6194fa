import { operations } from '@backoffice/contracts'
import { handle, withIsoTimes } from '@backoffice/service-runtime'
import { countWaitingPlayers } from '../storage/kyc-submissions.ts'

export const countKycQueue = handle(operations.players.countKycQueue, async ({ input }, { db }) => ({
  data: (await countWaitingPlayers(db, input.environment)).map(withIsoTimes),
}))
