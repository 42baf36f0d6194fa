import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { findDelivery } from '../storage/deliveries.ts'
import { toStory } from '../views/delivery.ts'

export const showDelivery = handle(operations.webhooks.showDelivery, async ({ input }, { db, now }) => {
  const found = await findDelivery(db, input.id)
  if (found === null) throw new Rejection('DELIVERY_NOT_FOUND')
  return toStory(found, now)
})
