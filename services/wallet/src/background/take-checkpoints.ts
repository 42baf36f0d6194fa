import { type Background, type ServiceContext, sqlOf } from '@backoffice/service-runtime'
import { takeCheckpoints } from '../storage/system-balances.ts'
import { every } from './every.ts'

/** Keeps the balances of system accounts quick to read. */
export function startCheckpoints(
  { orm, clock, log }: Pick<ServiceContext, 'orm' | 'clock' | 'log'>,
  everyMs: number,
): Background {
  return every(everyMs, async () => {
    await takeCheckpoints(sqlOf(orm.em.fork()), clock.now()).catch((error) =>
      log.warn({ err: error }, 'checkpoints could not be taken; the next round tries again'),
    )
  })
}
