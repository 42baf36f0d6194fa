import { operations } from '@backoffice/contracts'
import type { Background, Logger, ServiceContext } from '@backoffice/service-runtime'
import { abandonIntents } from '../storage/intents.ts'

const batchMax = 100

/**
 * Gives up the intents that nobody came back for. Each leaves the wallet a release, which also refuses a hold that would
 * arrive later. The intent is given up in the same transaction, before the wallet is touched.
 * @returns how many were given up
 */
export async function sweepIntents(
  { transact, clock }: Pick<ServiceContext, 'transact' | 'clock'>,
  { abandonAfterMs }: { readonly abandonAfterMs: number },
): Promise<number> {
  const before = new Date(clock.now().getTime() - abandonAfterMs)
  return transact(async ({ sql, now, send }) => {
    const abandoned = await abandonIntents(sql, { before, now, limit: batchMax })
    for (const { id: withdrawalId, playerId, scope } of abandoned) {
      const input = { playerId, withdrawalId }
      send({ operation: operations.wallet.releaseHold, aggregate: withdrawalId, scope, input })
    }
    return abandoned.length
  })
}

/** Sweeps every `everyMs` until it is stopped; what fails is tried again at the next round. */
export function startSweeping(
  context: Pick<ServiceContext, 'transact' | 'clock'> & { readonly log: Logger },
  { everyMs, abandonAfterMs }: { readonly everyMs: number; readonly abandonAfterMs: number },
): Background {
  let running: Promise<void> = Promise.resolve()
  const sweep = async () => {
    try {
      while ((await sweepIntents(context, { abandonAfterMs })) === batchMax);
    } catch (error) {
      context.log.warn({ err: error }, 'intents could not be swept; the next round tries again')
    }
  }
  const timer = setInterval(() => {
    running = running.then(sweep)
  }, everyMs)
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
