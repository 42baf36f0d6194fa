import { defineService } from '@backoffice/service-runtime'
import { aloneUpTo, teamDesk } from '@backoffice/team-access'
import { Type } from '@sinclair/typebox'
import { checkpoints } from './background/take-checkpoints.ts'
import { correctionApprover } from './corrections/operations.ts'
import { Ledger } from './ledger/ledger.ts'
import { handlers } from './operations.ts'
import { migrations } from './storage/migrations/index.ts'

/** The ledger is kept for ever, so nothing is purged. */
export const wallet = defineService({
  name: 'wallet',
  settings: {
    /** Correcting a balance. */
    CORRECT_ALONE_UP_TO: aloneUpTo,
    CHECKPOINT_EVERY_MS: Type.Integer({ minimum: 100, default: 60_000 }),
  },
  plugins: [teamDesk()],
  migrations,
  compose: (context, settings) => ({
    operations: handlers(new Ledger(context), correctionApprover(settings.CORRECT_ALONE_UP_TO)),
    background: [checkpoints(context, settings.CHECKPOINT_EVERY_MS)],
  }),
})
