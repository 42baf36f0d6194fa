import { Rejection } from '@backoffice/contracts'
import { batchFaultOf, type Database, Gatherer } from '@backoffice/service-runtime'
import { type Attempt, type Intent, insertIntents, listAttempts } from '../storage/intents.ts'

/** An intent on its way into the table. */
interface Begun {
  readonly intent: Intent
  /** Abandoned attempts of the operation do not count. */
  readonly afterAbandoned: boolean
  readonly deadline: Date
}

/** Commits intents, those that wait together in one batch, before the wallet is asked for their holds. */
export class Intents {
  readonly #db: Database
  readonly #inserted: Gatherer<Begun, boolean>

  constructor(db: Database) {
    this.#db = db
    this.#inserted = new Gatherer({
      batchMax: 200,
      queueMax: 2_000,
      apart: ({ intent }) => [intent.operationId],
      ownerOf: ({ intent }) => intent.scope.brandId,
      isExpired: ({ deadline }) => deadline.getTime() <= Date.now(),
      faultOf: batchFaultOf,
      async run(begun) {
        const ids = await insertIntents(db, begun)
        return begun.map(({ intent }) => ids.has(intent.id))
      },
    })
  }

  /**
   * Finds the intent that an earlier attempt of the operation left, or commits the given one.
   * @returns the attempt to carry on with
   * @throws {Rejection} SERVICE_UNAVAILABLE
   */
  async begin(intent: Intent, deadline: Date): Promise<Attempt> {
    const begun = { id: intent.id, status: 'intent', releasing: false } as const
    if (await this.#inserted.add({ intent, afterAbandoned: false, deadline })) return begun
    const current = currentAttempt(await listAttempts(this.#db, intent.operationId))
    if (current !== null) return current
    if (await this.#inserted.add({ intent, afterAbandoned: true, deadline })) return begun
    // Either a second delivery of the same message was quicker, or the operation has its reply, which the runner now
    // looks for.
    throw new Rejection('SERVICE_UNAVAILABLE')
  }
}

/**
 * @throws {Rejection} SERVICE_UNAVAILABLE until the wallet has given back what an abandoned attempt may have
 *   reserved: that money would be missing for the new hold, which would be refused for ever
 */
function currentAttempt(attempts: readonly Attempt[]): Attempt | null {
  const current = attempts.find(({ status }) => status !== 'abandoned')
  if (current !== undefined) return current
  if (attempts.some(({ releasing }) => releasing)) throw new Rejection('SERVICE_UNAVAILABLE')
  return null
}
