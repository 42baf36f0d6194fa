import { toMinorUnits } from '@backoffice/contracts'
import { sealingSettings } from '@backoffice/database/vault'
import { dayMs, patiently } from '@backoffice/process'
import { defineService } from '@backoffice/service-runtime'
import { payAloneSettings, teamPlugin } from '@backoffice/team-access'
import { Type } from '@sinclair/typebox'
import { handlers } from './operations.ts'
import { migrations } from './storage/migrations/index.ts'
import { sealedWithdrawals } from './withdrawals/destination.ts'
import { oldestUnfinished } from './withdrawals/intents.ts'
import { Intents, intentSweeper } from './withdrawals/request.ts'

/** Refused and abandoned intents are kept as long as the stored replies of their operations. */
export const droppedIntents = {
  table: 'withdrawal',
  column: 'dropped_at',
  keepMs: 3 * dayMs,
  setting: 'REPLIES_KEEP_HOURS',
}

export const payments = defineService({
  name: 'payments',
  settings: {
    ...sealingSettings,
    ...payAloneSettings,
    /** How long an intent may wait for its request to come back: longer than any request lasts. */
    INTENT_ABANDON_AFTER_MS: Type.Integer({ minimum: 1, default: 30_000 }),
    INTENT_SWEEP_EVERY_MS: Type.Integer({ minimum: 10, default: 5_000 }),
  },
  plugins: [teamPlugin({ sealedTables: [sealedWithdrawals] })],
  migrations,
  retentions: [droppedIntents],
  compose(context, settings) {
    const { INTENT_SWEEP_EVERY_MS: everyMs } = settings
    const abandonAfterMs = patiently(settings.INTENT_ABANDON_AFTER_MS)
    const payAloneUpTo = toMinorUnits(settings.PAY_ALONE_UP_TO)
    return {
      operations: handlers({ intents: new Intents(context.db), payAloneUpTo }),
      background: [intentSweeper(context, { everyMs, abandonAfterMs })],
      measurements: [oldestUnfinished(context.db.reader)],
    }
  },
})
