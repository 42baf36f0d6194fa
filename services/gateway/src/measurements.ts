import type { StoredAmount } from '@backoffice/contracts'
import { dayMs, type Measurement, measurement } from '@backoffice/process'
import type { ReadDb, ServiceContext } from '@backoffice/service-runtime'
import type { FailedAuthentications } from './http/security-log.ts'
import type { DayUse } from './operators/operator.ts'
import { type DefaultQuotas, quotasOf } from './operators/operator.ts'
import { countUnusedCredentials, findUses, type Tenant } from './operators/records.ts'
import { findPlayUses, type PlayQuotas } from './providers/records.ts'

interface Guarded {
  readonly surface: string
  readonly failures: Pick<FailedAuthentications, 'limitedAddresses'>
}

/** How many callers this replica turns away, because they only guess. */
export const limitedAddresses = (surfaces: readonly Guarded[]): Measurement =>
  measurement({
    gauges: {
      'backoffice.authentication.limited_addresses': {
        description: 'Addresses with more failed authentications in their minute than are allowed',
      },
    },
    read: async () => ({
      'backoffice.authentication.limited_addresses': surfaces.map(({ surface, failures }) => ({
        value: failures.limitedAddresses,
        attributes: { surface },
      })),
    }),
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
export const usedQuotas = (
  db: ReadDb,
  { defaults, play }: { readonly defaults: DefaultQuotas; readonly play: PlayQuotas },
): Measurement =>
  measurement({
    gauges: {
      'backoffice.quota.used_ratio': {
        description:
          "Part of a day's quota that an operator has used up, from a half on: of those with the largest part",
      },
    },
    async read() {
      const [calls, plays] = await Promise.all([findUses(db, null), findPlayUses(db)])
      const ratiosOf = (
        { operatorId: operator, environment, ...use }: Tenant & DayUse,
        most: StoredAmount,
        kind: string,
      ) => [
        { value: use.bytes / most.bytes, attributes: { operator, environment, quota: `${kind}bytes` } },
        { value: use.rows / most.rows, attributes: { operator, environment, quota: `${kind}rows` } },
      ]
      const ratios = [
        ...calls.flatMap((use) => ratiosOf(use, quotasOf(use, use.environment, defaults), '')),
        ...plays.flatMap((use) => ratiosOf(use, play[use.environment], 'play ')),
      ]
        .filter(({ value }) => value >= shownFrom)
        .sort((a, b) => b.value - a.value)
      return { 'backoffice.quota.used_ratio': ratios.slice(0, shownMax) }
    },
  })
