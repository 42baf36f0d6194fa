import { aloneUpTo, defineService } from '@backoffice/service-runtime'
import { Type } from '@sinclair/typebox'
import { checkpoints } from './background/take-checkpoints.ts'
import { handlers } from './operations/index.ts'
import { Ledger } from './steps/ledger.ts'
import { TwoPeopleRule } from './steps/two-people.ts'
import { migrations } from './storage/migrations/index.ts'

/** The ledger is kept for ever, so nothing is purged. */
export const wallet = defineService({
  name: 'wallet',
  settings: {
    /** Correcting a balance. */
    CORRECT_ALONE_UP_TO: aloneUpTo,
    CHECKPOINT_EVERY_MS: Type.Integer({ minimum: 100, default: 60_000 }),
  },
  migrations,
  compose: (context, settings) => ({
    operations: handlers(new Ledger(context), new TwoPeopleRule(settings.CORRECT_ALONE_UP_TO)),
    background: [checkpoints(context, settings.CHECKPOINT_EVERY_MS)],
  }),
})
