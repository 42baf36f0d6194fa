import {
  type Background,
  type Clock,
  loadConfig,
  type RunningService,
  runService,
  type ServiceContext,
  serviceConfig,
  startService,
  verifiedUrl,
} from '@backoffice/service-runtime'
import { type Static, Type } from '@sinclair/typebox'
import { startExportingHeads } from './background/export-heads.ts'
import { startMeasuringReconciliation } from './background/measure-reconciliation.ts'
import { startReconcilingRegularly } from './background/reconcile-regularly.ts'
import { startCheckpoints } from './background/take-checkpoints.ts'
import { handlers } from './operations/index.ts'
import { Reconciler } from './reconciliation/reconciler.ts'
import { entities } from './storage/entities.ts'
import { Ledger } from './storage/ledger.ts'

export const walletConfig = Type.Composite([
  serviceConfig,
  Type.Object({
    /** postgres:// URL of the role that may only read, for reconciliation; without it there is none. */
    RECONCILE_DATABASE_URL: Type.Optional(Type.String({ minLength: 1 })),
    /** A folder outside the database, best on append-only storage, for the heads of the hash chains. Without it none are exported. */
    HEADS_EXPORT_DIR: Type.Optional(Type.String({ minLength: 1 })),
    HEADS_EXPORT_EVERY_MS: Type.Integer({ minimum: 100, default: 300_000 }),
    /** How often the books are compared without being asked; 0 is never. */
    RECONCILE_EVERY_MS: Type.Integer({ minimum: 0, default: 0 }),
    CHECKPOINT_EVERY_MS: Type.Integer({ minimum: 100, default: 60_000 }),
  }),
])
export type WalletConfig = Static<typeof walletConfig>

const dayMs = 24 * 3_600_000
/** Reports of reconciliations; the ledger itself is kept for ever. */
const reports = { table: 'reconciliation', column: 'heartbeat_at', keepMs: 90 * dayMs }

/** Starts the wallet service. */
export function start(config: WalletConfig, options: { readonly clock?: Clock } = {}): Promise<RunningService> {
  const { HEADS_EXPORT_DIR: headsDir, HEADS_EXPORT_EVERY_MS: headsEveryMs } = config
  let reconciler: Reconciler | undefined
  return startService({
    name: 'wallet',
    config,
    entities,
    operations(context) {
      const { RECONCILE_DATABASE_URL: readerUrl, DATABASE_CA_FILE: caFile } = config
      const url = readerUrl === undefined ? undefined : verifiedUrl(readerUrl, caFile)
      reconciler = new Reconciler({ ...context, url, headsDir })
      return handlers({ ledger: new Ledger(context), reconciler })
    },
    background: (context) => [
      startCheckpoints(context, config.CHECKPOINT_EVERY_MS),
      ...(headsDir === undefined ? [] : [startExportingHeads(context, { dir: headsDir, everyMs: headsEveryMs })]),
      startMeasuringReconciliation(context),
      ...reconciling(context, config, reconciler),
    ],
    retentions: [reports],
    clock: options.clock,
  })
}

function reconciling(
  context: ServiceContext,
  { RECONCILE_EVERY_MS: everyMs }: WalletConfig,
  reconciler: Reconciler | undefined,
): Background[] {
  if (reconciler === undefined) return []
  return everyMs === 0 ? [reconciler] : [startReconcilingRegularly(context, reconciler, everyMs), reconciler]
}

if (import.meta.main) await runService(() => start(loadConfig(walletConfig, process.env)))
