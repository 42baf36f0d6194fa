import { Loop } from '@backoffice/process'
import type { ServiceContext } from '@backoffice/service-runtime'
import { takeCheckpoints } from '../storage/checkpoints.ts'

/** Moves the checkpoints of system accounts, so that their balances stay quick to read. */
export const checkpoints = ({ db, clock, log }: Pick<ServiceContext, 'db' | 'clock' | 'log'>, everyMs: number): Loop =>
  new Loop({
    name: 'checkpoints',
    log,
    everyMs,
    run: async () => {
      await takeCheckpoints(db, clock.now())
    },
  })
