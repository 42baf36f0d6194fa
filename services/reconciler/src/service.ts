import { dayMs, secret } from '@backoffice/process'
import { defineService, verifiedUrl } from '@backoffice/service-runtime'
import { aloneUpTo, payAloneSettings, playSettings, teamPlugin } from '@backoffice/team-access'
import { identitySettings, trustedTeam } from '@backoffice/team-access/identity'
import { Type } from '@sinclair/typebox'
import { HeadsExport } from './background/export-heads.ts'
import { leavingWhenIdle, regularMoments, regularReconciliation } from './background/regularly.ts'
import { bucketStore, folderStore, type HeadStore } from './heads/store.ts'
import { exportedHeads, lastReconciliation } from './measurements.ts'
import { handlers } from './operations.ts'
import { Reconciler } from './reconciliation/reconciler.ts'
import { migrations } from './storage/migrations/index.ts'

const reports = { table: 'reconciliation', column: 'heartbeat_at', keepMs: 90 * dayMs }

export const reconciler = defineService({
  name: 'reconciler',
  settings: {
    /** postgres:// URL from which the books are read, such as a standby's. Without it they are read where reports are written. */
    RECONCILE_DATABASE_URL: Type.Optional(secret({ password: 'DATABASE_PASSWORD' })),
    /** A bucket outside the database for the heads of the hash chains, best with a lock. Without it and a folder none are exported. */
    HEADS_BUCKET: Type.Optional(Type.String({ minLength: 1 })),
    HEADS_BUCKET_REGION: Type.String({ minLength: 1, default: 'us-east-1' }),
    /** Of a storage that speaks the S3 API and is not Amazon's. */
    HEADS_BUCKET_ENDPOINT: Type.Optional(Type.String({ pattern: '^https?://' })),
    /** What the names of objects begin with, where several systems share a bucket. */
    HEADS_BUCKET_PREFIX: Type.String({ default: '' }),
    /** Without them the client takes the role of the pod or machine. */
    HEADS_ACCESS_KEY_ID: Type.Optional(secret()),
    HEADS_SECRET_ACCESS_KEY: Type.Optional(secret()),
    /** A folder instead of a bucket, on one machine and for development. */
    HEADS_EXPORT_DIR: Type.Optional(Type.String({ minLength: 1 })),
    HEADS_EXPORT_EVERY_MS: Type.Integer({ minimum: 100, default: 300_000 }),
    /** How often the ledger is reconciled without being asked; 0 is never. */
    RECONCILE_EVERY_MS: Type.Integer({ minimum: 0, default: 0 }),
    /** How often such a run looks at all that was ever entered, and how long after midnight (UTC) that period begins. */
    RECONCILE_FULL_EVERY_MS: Type.Integer({ minimum: 1_000, maximum: dayMs, default: dayMs }),
    RECONCILE_FULL_OFFSET_MS: Type.Integer({ minimum: 0, maximum: dayMs, default: 6 * 3_600_000 }),
    /** Within how many days these runs together look at everything: each at its part. */
    RECONCILE_FULL_WITHIN_DAYS: Type.Integer({ minimum: 1, maximum: 90, default: 7 }),
    /** Over how many connections such a run is divided: as many processors of the database's machine work for it. */
    RECONCILE_CONNECTIONS: Type.Integer({ minimum: 1, maximum: 16, default: 2 }),
    /** Correcting a balance. */
    CORRECT_ALONE_UP_TO: aloneUpTo,
    ...payAloneSettings,
    ...playSettings,
    ...identitySettings,
    /** After so long without a call or a run the process ends; 0: never. Only for a parent that starts it when it is needed. */
    LEAVE_WHEN_IDLE_MS: Type.Integer({ minimum: 0, default: 0 }),
  },
  plugins: [teamPlugin()],
  migrations,
  retentions: [reports],
  compose(context, settings) {
    const { RECONCILE_DATABASE_URL: url = settings.DATABASE_URL, RECONCILE_EVERY_MS: everyMs } = settings
    const { LEAVE_WHEN_IDLE_MS: idleMs } = settings
    const fullWithinMs = settings.RECONCILE_FULL_WITHIN_DAYS * dayMs
    const stopping = new AbortController()
    const store = headStore(settings, stopping.signal)
    const heads = store && { store, everyMs: settings.HEADS_EXPORT_EVERY_MS }
    const headsExport = heads && new HeadsExport(context, { ...heads, stopping })
    const reconciler = new Reconciler({
      ...context,
      url: verifiedUrl(url, settings.DATABASE_CA_FILE),
      heads,
      workers: settings.RECONCILE_CONNECTIONS,
      team: {
        ...trustedTeam(settings),
        aloneUpTo: settings.CORRECT_ALONE_UP_TO,
        payAloneUpTo: settings.PAY_ALONE_UP_TO,
        maxWin: settings.PLAY_MAX_WIN,
        isDevelopment: settings.DEVELOPMENT,
      },
    })
    const schedule = {
      everyMs,
      fullEveryMs: settings.RECONCILE_FULL_EVERY_MS,
      fullOffsetMs: settings.RECONCILE_FULL_OFFSET_MS,
      fullWithinMs,
      // Otherwise the first run after an installation would find no export.
      after: headsExport?.tried ?? Promise.resolve(),
    }
    return {
      operations: handlers(reconciler, store),
      background: [
        ...(headsExport === undefined ? [] : [headsExport]),
        ...(everyMs === 0 ? [] : [regularReconciliation(context, reconciler, schedule)]),
        regularMoments(context),
        reconciler,
        ...(idleMs === 0 ? [] : [leavingWhenIdle(context, reconciler, { idleMs, leave })]),
      ],
      measurements: [
        // A piece that was due a moment ago is proven by the next run.
        lastReconciliation(context, fullWithinMs + settings.RECONCILE_FULL_EVERY_MS),
        ...(headsExport === undefined ? [] : [exportedHeads(context, headsExport)]),
      ],
    }
  },
})

/** As whoever stops it does, so it drains. */
const leave = () => void process.kill(process.pid, 'SIGTERM')

interface HeadSettings {
  readonly HEADS_BUCKET?: string
  readonly HEADS_BUCKET_REGION: string
  readonly HEADS_BUCKET_ENDPOINT?: string
  readonly HEADS_BUCKET_PREFIX: string
  readonly HEADS_ACCESS_KEY_ID?: string
  readonly HEADS_SECRET_ACCESS_KEY?: string
  readonly HEADS_EXPORT_DIR?: string
}

/** Where heads are exported to; undefined when that is not configured. */
function headStore(settings: HeadSettings, signal: AbortSignal): HeadStore | undefined {
  const { HEADS_BUCKET: bucket, HEADS_EXPORT_DIR: dir } = settings
  const { HEADS_ACCESS_KEY_ID: accessKeyId, HEADS_SECRET_ACCESS_KEY: secretAccessKey } = settings
  if (bucket === undefined) return dir === undefined ? undefined : folderStore(dir)
  return bucketStore({
    bucket,
    region: settings.HEADS_BUCKET_REGION,
    endpoint: settings.HEADS_BUCKET_ENDPOINT,
    prefix: settings.HEADS_BUCKET_PREFIX,
    credentials:
      accessKeyId === undefined || secretAccessKey === undefined ? undefined : { accessKeyId, secretAccessKey },
    signal,
  })
}
