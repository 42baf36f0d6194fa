import { Rejection } from '@backoffice/contracts'
import { holderOf, type Logger, Loop } from '@backoffice/process'
import { type Background, Batcher, type Database } from '@backoffice/service-runtime'
import { LRUCache } from 'lru-cache'
import { writeCredentialUses } from '../operators/records.ts'
import { RetryLater } from './reply.ts'

/**
 * A suspension, revocation or change of addresses must hold on every replica within a second, so entries live a little
 * less than that.
 */
export const entryTtlMsDefault = 800
const entriesMax = 10_000
/**
 * How long a key that does not exist is remembered. Keys are random, so nobody asks for one before it is issued, and
 * this may be longer.
 */
const unknownKeyTtlMs = 10_000
const unknownKeysMax = 10_000
/** Keys in one statement. */
const batchMax = 200
/** Keys that wait. Of keys that were never seen to exist the least, because anybody can make those up. */
const waitingMax = { seen: entriesMax, new: 1_000 } as const

export interface DirectoryOptions<Stored, Known> {
  /** @returns in the order of the keys; undefined for a key that does not exist */
  readonly find: (keys: readonly string[]) => Promise<readonly (Stored | undefined)[]>
  /** Opens what is sealed. */
  readonly open: (stored: Stored) => Known
  readonly entryTtlMs?: number
}

interface Lookup {
  readonly key: string
  /** Who asks. Callers take turns when many wait. */
  readonly caller: string
}

/**
 * Finds what a key stands for. However many requests need it at once, it is read once for the life of an entry.
 *
 * Nobody who makes up keys can keep a key that exists from being found: such keys wait in a line of their own, in which
 * callers take turns, use one connection of the readers at most, and are remembered apart from those that exist.
 */
export class KeyDirectory<Stored, Known extends { readonly revoked: boolean }> {
  readonly #cache: LRUCache<string, Known, string>
  readonly #unknown = new LRUCache<string, true>({ max: unknownKeysMax, ttl: unknownKeyTtlMs })
  /** Keys that have existed, which are read again once their entries have ended. */
  readonly #seen = new LRUCache<string, true>({ max: entriesMax })
  readonly #lookups: Readonly<Record<keyof typeof waitingMax, Batcher<Lookup, Stored | undefined>>>

  constructor({ find, open, entryTtlMs = entryTtlMsDefault }: DirectoryOptions<Stored, Known>) {
    const lookups = (kind: keyof typeof waitingMax): Batcher<Lookup, Stored | undefined> =>
      new Batcher({
        run: (waiting) => find(waiting.map(({ key }) => key)),
        batchMax,
        queueMax: waitingMax[kind],
        ownerOf: ({ caller }) => caller,
      })
    this.#lookups = { seen: lookups('seen'), new: lookups('new') }
    this.#cache = new LRUCache({
      max: entriesMax,
      ttl: entryTtlMs,
      fetchMethod: async (key, _stale, { context: address }) => {
        const caller = holderOf(address)
        const stored = await (this.#seen.has(key)
          ? this.#lookups.seen.add({ key, caller })
          : this.#lookups.new.add({ key, caller }).catch(tooManyNewKeys))
        if (stored === undefined) {
          this.#unknown.set(key, true)
          return undefined
        }
        this.#seen.set(key, true)
        return open(stored)
      },
    })
  }

  /**
   * Null for a key that is unknown or revoked.
   * @param address of who asks. Those who ask take turns
   * @throws {Rejection} RATE_LIMITED when too many keys wait that were never seen to exist
   */
  async find(key: string, address: string): Promise<Known | null> {
    if (this.#unknown.has(key)) return null
    const credential = this.#cache.get(key) ?? (await this.#cache.fetch(key, { context: address }))
    return credential === undefined || credential.revoked ? null : credential
  }
}

/** Who makes up keys in great numbers is no fault of ours. */
function tooManyNewKeys(error: unknown): never {
  throw error instanceof Rejection ? new RetryLater(1, 'RATE_LIMITED') : error
}

/** The use of one key is written at most this often, and known this exactly. */
const exactToMs = 5 * 60_000
const keysMax = 10_000
/** How long after a fault it is tried again. */
const againAfterMs = 15_000

/** Keeps when each key was last used. No request waits for it. */
export class KeyUses implements Background {
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
