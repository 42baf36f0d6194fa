import { operations } from '@backoffice/contracts'
import { handle, withIsoTimes } from '@backoffice/service-runtime'
import { countQueue } from '../storage/withdrawals.ts'

export const countWithdrawalQueue = handle(operations.payments.countWithdrawalQueue, async ({ input }, { db }) => ({
  data: (await countQueue(db, input)).map(withIsoTimes),
}))
