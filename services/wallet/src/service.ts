import { toMinorUnits } from '@backoffice/contracts'
import { defineService } from '@backoffice/service-runtime'
import { aloneUpTo, playSettings, teamPlugin } from '@backoffice/team-access'
import { Type } from '@sinclair/typebox'
import { dayCloser } from './background/close-days.ts'
import { moneyCounter } from './background/count-money.ts'
import { checkpoints } from './background/take-checkpoints.ts'
import { correctionApprover } from './corrections/operations.ts'
import { Ledger } from './ledger/ledger.ts'
import { unsettledPlay } from './measurements.ts'
import { handlers } from './operations.ts'
import { migrations } from './storage/migrations/index.ts'

/** The ledger is kept for ever, so nothing is purged. */
export const wallet = defineService({
  name: 'wallet',
  settings: {
    /** Correcting a balance. */
    CORRECT_ALONE_UP_TO: aloneUpTo,
    ...playSettings,
    CHECKPOINT_EVERY_MS: Type.Integer({ minimum: 100, default: 60_000 }),
    PLAY_DAYS_EVERY_MS: Type.Integer({ minimum: 100, default: 60_000 }),
  },
  plugins: [teamPlugin()],
  migrations,
  compose: (context, settings) => ({
    operations: handlers(new Ledger(context), {
      approverOf: correctionApprover(settings.CORRECT_ALONE_UP_TO),
      maxWin: toMinorUnits(settings.PLAY_MAX_WIN),
    }),
    background: [
      checkpoints(context, settings.CHECKPOINT_EVERY_MS),
      moneyCounter(context, settings.CHECKPOINT_EVERY_MS),
      dayCloser(context, settings.PLAY_DAYS_EVERY_MS),
    ],
    measurements: [unsettledPlay(context.db.reader)],
  }),
})
