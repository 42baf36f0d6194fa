import { operations, Rejection } from '@backoffice/contracts'
import { handle, withIsoTimes } from '@backoffice/service-runtime'
import { rescheduleDelivery } from '../storage/deliveries.ts'

export const resendDelivery = handle(operations.webhooks.resendDelivery, {
  async execute({ input }, { db }) {
    const rescheduled = await rescheduleDelivery(db, input.id)
    if (rescheduled === null) throw new Rejection('DELIVERY_NOT_FOUND')
    const { sends, ...delivery } = rescheduled
    if (!sends) throw new Rejection('WEBHOOK_NOT_CONFIGURED')
    return withIsoTimes(delivery)
  },
})
