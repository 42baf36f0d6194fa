import type { ReadDb, SecretBox } from '@backoffice/service-runtime'
import { LRUCache } from 'lru-cache'
import { AddressRanges } from '../domain/addresses.ts'
import { findCredential, type StoredCredential } from '../storage/credential-lookup.ts'

/**
 * A suspension, revocation or change of addresses must hold on every replica within a second, so entries live a little
 * less than that.
 */
const entryTtlMs = 800
const entriesMax = 10_000

export interface KnownCredential extends Omit<StoredCredential, 'sealedSecret' | 'allowedAddresses'> {
  readonly secret: string
  readonly permittedAddresses: AddressRanges
}

/** Finds what a key stands for. However many requests need it at once, it is read once for the life of an entry. */
export class CredentialDirectory {
  readonly #cache: LRUCache<string, { readonly credential: KnownCredential | null }>

  constructor(db: ReadDb, secrets: SecretBox) {
    this.#cache = new LRUCache({
      max: entriesMax,
      ttl: entryTtlMs,
      fetchMethod: async (key) => {
        const stored = await findCredential(db, key)
        return { credential: stored === undefined ? null : decrypt(stored, secrets) }
      },
    })
  }

  /** Whether `find` needs no look-up. */
  has(key: string): boolean {
    return this.#cache.has(key)
  }

  /** Null for a key that is unknown or revoked. */
  async find(key: string): Promise<KnownCredential | null> {
    const entry = await this.#cache.fetch(key)
    const credential = entry?.credential ?? null
    return credential?.revoked ? null : credential
  }
}

function decrypt({ sealedSecret, allowedAddresses, ...stored }: StoredCredential, secrets: SecretBox): KnownCredential {
  return {
    ...stored,
    secret: secrets.decrypt(sealedSecret, stored.credentialId),
    permittedAddresses: new AddressRanges(allowedAddresses),
  }
}
