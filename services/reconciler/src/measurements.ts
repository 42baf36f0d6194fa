import { differenceClasses } from '@backoffice/contracts'
import { measurement } from '@backoffice/process'
import type { ServiceContext } from '@backoffice/service-runtime'
import { latestReport, provenSince, readProofs } from './storage/reconciliations.ts'

/** What the last finished reconciliation found, and how long ago that was. Before the first there is no value. */
export const lastReconciliation = ({ db, clock }: Pick<ServiceContext, 'db' | 'clock'>, fullWithinMs: number) =>
  measurement({
    gauges: {
      'backoffice.ledger.differences': {
        description: 'Differences that the last finished reconciliation found, by what they say',
      },
      'backoffice.ledger.reconciliation_age_seconds': {
        description: 'Time since the last reconciliation finished',
        unit: 's',
      },
      'backoffice.ledger.proven_share': {
        description:
          'Share of all records and accounts that were proven from their beginning on as lately as is wanted',
      },
      'backoffice.ledger.oldest_proof_age_seconds': {
        description: 'Time since what was proven longest ago; no value while something never was',
        unit: 's',
      },
    },
    async read() {
      const latest = await latestReport(db.reader)
      if (latest === undefined) return {}
      const { differencesOf, finishedAt } = latest
      const proofs = await readProofs(db.reader)
      const now = clock.now().getTime()
      const late = proofs.filter(({ at }) => at !== null && now - at.getTime() <= fullWithinMs)
      const oldest = provenSince(proofs)
      return {
        'backoffice.ledger.differences': differenceClasses.flatMap((of) =>
          (['production', 'sandbox'] as const).map((environment) => ({
            value: differencesOf.find((one) => one.class === of && one.environment === environment)?.differences ?? 0,
            attributes: { class: of, environment },
          })),
        ),
        'backoffice.ledger.reconciliation_age_seconds': [
          { value: (clock.now().getTime() - finishedAt.getTime()) / 1_000 },
        ],
        'backoffice.ledger.proven_share': [{ value: late.length / proofs.length }],
        'backoffice.ledger.oldest_proof_age_seconds':
          oldest === null ? [] : [{ value: (now - oldest.getTime()) / 1_000 }],
      }
    },
  })

/** How old the newest export of heads is, whichever replica took it. Before that is known there is no value. */
export const exportedHeads = (
  { clock }: Pick<ServiceContext, 'clock'>,
  headsExport: { readonly lastAt: Date | null },
) =>
  measurement({
    gauges: {
      'backoffice.ledger.heads_age_seconds': { description: 'Time since heads were exported last', unit: 's' },
    },
    async read() {
      const { lastAt } = headsExport
      if (lastAt === null) return {}
      return {
        'backoffice.ledger.heads_age_seconds': [{ value: (clock.now().getTime() - lastAt.getTime()) / 1_000 }],
      }
    },
  })
