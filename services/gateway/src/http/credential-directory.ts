import { Rejection } from '@backoffice/contracts'
import { Gatherer, holderOf, type ReadDb, type SecretBox } from '@backoffice/service-runtime'
import { LRUCache } from 'lru-cache'
import { AddressRanges } from '../operators/addresses.ts'
import { findCredentials, type StoredCredential } from './credential-lookup.ts'
import { RetryLater } from './reply.ts'

/**
 * A suspension, revocation or change of addresses must hold on every replica within a second, so entries live a little
 * less than that.
 */
const entryTtlMsDefault = 800
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

export interface KnownCredential extends Omit<StoredCredential, 'sealedSecret' | 'allowedAddresses'> {
  readonly secret: string
  readonly permittedAddresses: AddressRanges
}

interface Lookup {
  readonly key: string
  /** Who asks. Callers take turns when many wait. */
  readonly caller: string
}

type Lookups = Gatherer<Lookup, StoredCredential | undefined>

/**
 * Finds what a key stands for. However many requests need it at once, it is read once for the life of an entry.
 *
 * Nobody who makes up keys can keep a key that exists from being found: such keys wait in a line of their own, in which
 * callers take turns, use one connection of the readers at most, and are remembered apart from those that exist.
 */
export class CredentialDirectory {
  readonly #cache: LRUCache<string, KnownCredential, string>
  readonly #unknown = new LRUCache<string, true>({ max: unknownKeysMax, ttl: unknownKeyTtlMs })
  /** Keys that have existed, which are read again once their entries have ended. */
  readonly #seen = new LRUCache<string, true>({ max: entriesMax })
  readonly #lookups: Readonly<Record<keyof typeof waitingMax, Lookups>>

  constructor(db: ReadDb, secrets: SecretBox, entryTtlMs: number = entryTtlMsDefault) {
    const lookups = (kind: keyof typeof waitingMax): Lookups =>
      new Gatherer({
        run: (waiting) =>
          findCredentials(
            db,
            waiting.map(({ key }) => key),
          ),
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
        return decrypt(stored, secrets)
      },
    })
  }

  /**
   * Null for a key that is unknown or revoked.
   * @param address of who asks. Those who ask take turns
   * @throws {Rejection} RATE_LIMITED when too many keys wait that were never seen to exist
   */
  async find(key: string, address: string): Promise<KnownCredential | null> {
    if (this.#unknown.has(key)) return null
    const credential = await this.#cache.fetch(key, { context: address })
    return credential === undefined || credential.revoked ? null : credential
  }
}

/** Who makes up keys in great numbers is no fault of ours. */
function tooManyNewKeys(error: unknown): never {
  throw error instanceof Rejection ? new RetryLater(1, 'RATE_LIMITED') : error
}

function decrypt({ sealedSecret, allowedAddresses, ...stored }: StoredCredential, secrets: SecretBox): KnownCredential {
  return {
    ...stored,
    secret: secrets.decrypt(sealedSecret, stored.credentialId),
    permittedAddresses: new AddressRanges(allowedAddresses),
  }
}
