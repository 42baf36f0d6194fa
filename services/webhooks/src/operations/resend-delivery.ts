import { operations, Rejection } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { rescheduleDelivery } from '../storage/deliveries.ts'

export const resendDelivery = command(operations.webhooks.resendDelivery, {
  async execute({ input }, { sql, now }) {
    const rescheduled = await rescheduleDelivery(sql, { id: input.id, now })
    if (rescheduled === null) throw new Rejection('DELIVERY_NOT_FOUND')
    if (!rescheduled.sends) throw new Rejection('WEBHOOK_NOT_CONFIGURED')
    return rescheduled.summary
  },
})
