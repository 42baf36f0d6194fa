import type { ReadDb, SecretBox } from '@backoffice/service-runtime'
import { LRUCache } from 'lru-cache'
import { AddressRanges } from '../domain/addresses.ts'
import { findCredential, type StoredCredential } from '../storage/credential-lookup.ts'

/** Suspension, revocation and address changes hold within a second on every replica: entries live a little less. */
const entryTtlMs = 800
const entriesMax = 10_000

export interface KnownCredential extends Omit<StoredCredential, 'sealedSecret' | 'allowedAddresses'> {
  readonly secret: string
  readonly permittedAddresses: AddressRanges
}

/** What a key stands for, read at most once per entry's life however many requests ask for it at once. */
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

  /** Whether asking costs no look-up. */
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
