import { type Measurement, measurement } from '@backoffice/service-runtime'
import type { FailedAuthentications } from './http/failed-authentications.ts'

/** How many callers this replica turns away, because they only guess. */
export const limitedAddresses = (failures: Pick<FailedAuthentications, 'limitedAddresses'>): Measurement =>
  measurement({
    gauges: {
      'backoffice.authentication.limited_addresses': {
        description: 'Addresses with more failed authentications in their minute than are allowed',
      },
    },
    read: async () => ({ 'backoffice.authentication.limited_addresses': [{ value: failures.limitedAddresses }] }),
  })
