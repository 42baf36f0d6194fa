import { dayMs, type Measurement, measurement } from '@backoffice/process'
import type { ServiceContext } from '@backoffice/service-runtime'
import type { FailedAuthentications } from './http/security-log.ts'
import { countUnusedCredentials } from './operators/records.ts'

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

/** A key that nobody needs is one more that can be stolen. */
const unusedAfterMs = 90 * dayMs

/** How many keys are in force and unused for that long. */
export const unusedCredentials = ({ db, clock }: Pick<ServiceContext, 'db' | 'clock'>): Measurement =>
  measurement({
    gauges: { 'backoffice.credentials.unused': { description: 'Keys in force that nobody has used for 90 days' } },
    async read() {
      const counts = await countUnusedCredentials(db.reader, new Date(clock.now().getTime() - unusedAfterMs))
      return {
        'backoffice.credentials.unused': counts.map(({ environment, unused }) => ({
          value: Number(unused),
          attributes: { environment },
        })),
      }
    },
  })
