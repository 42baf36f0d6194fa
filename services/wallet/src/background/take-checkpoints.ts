import { Loop, type ServiceContext } from '@backoffice/service-runtime'
import { takeCheckpoints } from '../storage/system-balances.ts'

/** Keeps the balances of system accounts quick to read. */
export const checkpoints = ({ db, clock, log }: Pick<ServiceContext, 'db' | 'clock' | 'log'>, everyMs: number): Loop =>
  new Loop({
    name: 'checkpoints',
    log,
    everyMs,
    run: async () => {
      await takeCheckpoints(db, clock.now())
    },
  })
