import type { ReconciliationReport } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { connectDatabase } from '@backoffice/service-runtime/testing'
import { type ReconcileOptions, reconcile } from '../../src/reconciliation/reconcile.ts'

interface Bed {
  environment(name: 'reconciler'): Readonly<Record<string, string>>
}

/** One run beside the service, which need not be there: a full one unless the options say otherwise. */
export async function runOf(
  bed: Bed,
  { url, ...options }: Partial<ReconcileOptions> & { readonly url?: string } = {},
): Promise<ReconciliationReport> {
  const { DATABASE_URL = '' } = bed.environment('reconciler')
  const db = await connectDatabase('reconciler', { DATABASE_URL, DATABASE_POOL_MAX: 1 })
  try {
    return await reconcile(url ?? DATABASE_URL, db, {
      runId: newId('opn'),
      isFull: true,
      at: new Date(),
      progress: () => {},
      statementMsMax: 60_000,
      signal: new AbortController().signal,
      ...options,
    })
  } finally {
    await db.close()
  }
}
