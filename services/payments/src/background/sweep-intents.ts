import { operations } from '@backoffice/contracts'
import { Loop } from '@backoffice/process'
import type { ServiceContext } from '@backoffice/service-runtime'
import { abandonIntents } from '../storage/intents.ts'
import { scopeOf } from '../storage/scope.ts'

const batchMax = 100

/**
 * Abandons the intents that no request has come back for, and leaves the wallet a release for each, in one transaction.
 * The release also makes the wallet refuse a hold that arrives later.
 * @returns how many were abandoned
 */
export async function sweepIntents(
  { transact }: Pick<ServiceContext, 'transact'>,
  { abandonAfterMs }: { readonly abandonAfterMs: number },
): Promise<number> {
  return transact(async ({ db, now, send }) => {
    const abandoned = await abandonIntents(db, { afterMs: abandonAfterMs, now, limit: batchMax })
    for (const intent of abandoned) {
      const { id: withdrawalId, playerId } = intent
      const input = { playerId, withdrawalId }
      send({ operation: operations.wallet.releaseHold, aggregate: withdrawalId, scope: scopeOf(intent), input })
    }
    return abandoned.length
  })
}

/** Sweeps every `everyMs`, and again at once while there is more than one batch. */
export function intentSweeper(
  context: ServiceContext,
  { everyMs, abandonAfterMs }: { readonly everyMs: number; readonly abandonAfterMs: number },
): Loop {
  return new Loop({
    name: 'sweeping intents',
    log: context.log,
    everyMs,
    firstAfterMs: everyMs,
    run: async () => (await sweepIntents(context, { abandonAfterMs })) >= batchMax,
  })
}
