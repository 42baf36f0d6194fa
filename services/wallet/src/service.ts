import { dayMs, defineService, verifiedUrl } from '@backoffice/service-runtime'
import { Type } from '@sinclair/typebox'
import { headsExport } from './background/export-heads.ts'
import { regularReconciliation } from './background/reconcile-regularly.ts'
import { checkpoints } from './background/take-checkpoints.ts'
import { lastReconciliation } from './measurements.ts'
import { handlers } from './operations/index.ts'
import { Reconciler } from './reconciliation/reconciler.ts'
import { Ledger } from './steps/ledger.ts'
import { migrations } from './storage/migrations/index.ts'

/** Reports of reconciliations; the ledger itself is kept for ever. */
const reports = { table: 'reconciliation', column: 'heartbeat_at', keepMs: 90 * dayMs }

export const wallet = defineService({
  name: 'wallet',
  settings: {
    /** postgres:// URL of the role that may only read. Without it reconciliation fails. */
    RECONCILE_DATABASE_URL: Type.Optional(Type.String({ minLength: 1 })),
    /** A folder outside the database, best on append-only storage, for the heads of the hash chains. Without it none are exported. */
    HEADS_EXPORT_DIR: Type.Optional(Type.String({ minLength: 1 })),
    HEADS_EXPORT_EVERY_MS: Type.Integer({ minimum: 100, default: 300_000 }),
    /** How often the ledger is reconciled without being asked; 0 is never. */
    RECONCILE_EVERY_MS: Type.Integer({ minimum: 0, default: 0 }),
    CHECKPOINT_EVERY_MS: Type.Integer({ minimum: 100, default: 60_000 }),
  },
  migrations,
  retentions: [reports],
  compose(context, settings) {
    const { HEADS_EXPORT_DIR: headsDir, RECONCILE_DATABASE_URL: url, RECONCILE_EVERY_MS: reconcileEveryMs } = settings
    const reconciler = new Reconciler({
      ...context,
      url: url === undefined ? undefined : verifiedUrl(url, settings.DATABASE_CA_FILE),
      headsDir,
    })
    return {
      operations: handlers(new Ledger(context), reconciler, { headsDir }),
      background: [
        checkpoints(context, settings.CHECKPOINT_EVERY_MS),
        ...(headsDir === undefined
          ? []
          : [headsExport(context, { dir: headsDir, everyMs: settings.HEADS_EXPORT_EVERY_MS })]),
        ...(reconcileEveryMs === 0 ? [] : [regularReconciliation(context, reconciler, reconcileEveryMs)]),
        reconciler,
      ],
      measurements: [lastReconciliation(context)],
    }
  },
})
