import { type Background, gauges, type ServiceContext, sqlOf } from '@backoffice/service-runtime'
import { latestReport } from '../storage/reconciliations.ts'

/** Measures what the last finished reconciliation found, and how long ago that was. Before the first there is no value. */
export function startMeasuringReconciliation({ orm, clock }: ServiceContext): Background {
  const stop = gauges(
    {
      'backoffice.ledger.differences': { description: 'Differences that the last finished reconciliation found' },
      'backoffice.ledger.reconciled_seconds': { description: 'Time since the last reconciliation finished', unit: 's' },
    },
    async () => {
      const latest = await latestReport(sqlOf(orm.em.fork()))
      if (latest === null) return {}
      return {
        'backoffice.ledger.differences': [{ value: latest.differencesTotal }],
        'backoffice.ledger.reconciled_seconds': [
          { value: (clock.now().getTime() - latest.finishedAt.getTime()) / 1_000 },
        ],
      }
    },
  )
  return { stop: async () => stop() }
}
