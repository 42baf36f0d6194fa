import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { rescheduleDelivery } from '../storage/deliveries.ts'
import { toSummary } from '../views/delivery.ts'

export const resendDelivery = handle(operations.webhooks.resendDelivery, {
  async execute({ input }, { db, now }) {
    const rescheduled = await rescheduleDelivery(db, { id: input.id, now })
    if (rescheduled === null) throw new Rejection('DELIVERY_NOT_FOUND')
    if (!rescheduled.sends) throw new Rejection('WEBHOOK_NOT_CONFIGURED')
    return toSummary(rescheduled)
  },
})
