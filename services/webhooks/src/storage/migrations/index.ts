import { type Migration, runtimeMigrations } from '@backoffice/service-runtime/migrations'
import { webhookTables } from './0001-webhook-tables.ts'
import { deliveryTrace } from './0002-delivery-trace.ts'
import { sealedResponse } from './0003-sealed-response.ts'
import { deliveryUpkeep } from './0004-delivery-upkeep.ts'
import { oneIndexLess } from './0005-one-index-less.ts'
import { deliveryByEndpointDropped } from './0006-delivery-by-endpoint-dropped.ts'
import { unsentDeliveries } from './0007-unsent-deliveries.ts'
import { brand } from './0008-brand.ts'
import { judgedEvents } from './0009-judged-events.ts'

/** In the order in which they are applied. */
export const migrations: readonly Migration[] = [
  ...runtimeMigrations('webhooks'),
  webhookTables,
  deliveryTrace,
  sealedResponse,
  deliveryUpkeep,
  oneIndexLess,
  deliveryByEndpointDropped,
  unsentDeliveries,
  brand,
  judgedEvents,
]
