import { dayMs, type Measurement, measurement } from '@backoffice/process'
import type { ReadDb, ServiceContext } from '@backoffice/service-runtime'
import type { FailedAuthentications } from './http/security-log.ts'
import { type DefaultQuotas, quotasOf } from './operators/operator.ts'
import { countUnusedCredentials, findUses } from './operators/records.ts'

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

/** Below this part of a quota nobody looks, and there are many operators. */
const shownFrom = 0.5

/** Series of each replica: however many operators there are, those that have used most are named. */
const shownMax = 100

/** How much of today's quotas is used up, by the operators that have used most. */
export const usedQuotas = (db: ReadDb, defaults: DefaultQuotas): Measurement =>
  measurement({
    gauges: {
      'backoffice.quota.used_ratio': {
        description:
          "Part of a day's quota that an operator has used up, from a half on: of those with the largest part",
      },
    },
    async read() {
      const ratios = (await findUses(db, null))
        .flatMap((use) => {
          const { operatorId: operator, environment, bytesStored, rowsStored } = use
          const { bytes, rows } = quotasOf(use, environment, defaults)
          return [
            { value: bytesStored / bytes, attributes: { operator, environment, quota: 'bytes' } },
            { value: rowsStored / rows, attributes: { operator, environment, quota: 'rows' } },
          ]
        })
        .filter(({ value }) => value >= shownFrom)
        .sort((a, b) => b.value - a.value)
      return { 'backoffice.quota.used_ratio': ratios.slice(0, shownMax) }
    },
  })
