import { type Background, type Database, type Logger, Loop } from '@backoffice/service-runtime'
import { LRUCache } from 'lru-cache'
import { writeCredentialUses } from '../operators/records.ts'

/** The use of one key is written at most this often, and known this exactly. */
const exactToMs = 5 * 60_000
const keysMax = 10_000
/** How long after a fault it is tried again. */
const againAfterMs = 15_000

/** Keeps when each key was last used. No request waits for it. */
export class CredentialUses implements Background {
  readonly #db: Database
  readonly #loop: Loop
  readonly #written = new LRUCache<string, true>({ max: keysMax, ttl: exactToMs })
  #waiting = new Map<string, Date>()

  constructor(db: Database, log: Logger) {
    this.#db = db
    this.#loop = new Loop({ run: () => this.#write(), everyMs: againAfterMs, log, name: 'writing uses of keys' })
  }

  start(): void {
    this.#loop.start()
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  /** Notes a use, to be written soon. While PostgreSQL is away, no more than `keysMax` keys wait for that. */
  used(credentialId: string, at: Date): void {
    if (this.#written.has(credentialId) || this.#waiting.size >= keysMax) return
    this.#written.set(credentialId, true)
    this.#waiting.set(credentialId, at)
    this.#loop.nudge()
  }

  async #write(): Promise<void> {
    if (this.#waiting.size === 0) return
    const writing = this.#waiting
    this.#waiting = new Map()
    try {
      await writeCredentialUses(
        this.#db,
        [...writing].map(([credentialId, at]) => ({ credentialId, at })),
      )
    } catch (error) {
      for (const [credentialId, at] of writing) this.#waiting.set(credentialId, at)
      throw error
    }
  }
}
