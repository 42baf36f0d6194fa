import { measurement, type ServiceContext } from '@backoffice/service-runtime'
import { latestReport } from './storage/reconciliations.ts'

/** What the last finished reconciliation found, and how long ago that was. Before the first there is no value. */
export const lastReconciliation = ({ db, clock }: Pick<ServiceContext, 'db' | 'clock'>) =>
  measurement({
    gauges: {
      'backoffice.ledger.differences': { description: 'Differences that the last finished reconciliation found' },
      'backoffice.ledger.reconciliation_age_seconds': {
        description: 'Time since the last reconciliation finished',
        unit: 's',
      },
    },
    async read() {
      const latest = await latestReport(db.reader)
      if (latest === undefined) return {}
      const { production, sandbox, finishedAt } = latest
      return {
        'backoffice.ledger.differences': [
          { value: production, attributes: { environment: 'production' } },
          { value: sandbox, attributes: { environment: 'sandbox' } },
        ],
        'backoffice.ledger.reconciliation_age_seconds': [
          { value: (clock.now().getTime() - finishedAt.getTime()) / 1_000 },
        ],
      }
    },
  })
