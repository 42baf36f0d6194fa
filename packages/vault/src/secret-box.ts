import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
/** Enough that no two texts share one by chance, and half as long in an index. */
const lookupBytes = 16
/** Named, because Node otherwise accepts a shorter tag, which can be guessed: one of 4 bytes in 2^32 tries. */
const fullTag = { authTagLength: tagBytes }

/**
 * Encrypts secrets at rest with AES-256-GCM. A ciphertext names its master key, so old keys still read while the newest
 * writes: `<key id>.<base64url of nonce, tag and ciphertext>`. `context` (the owner's id, say) is authenticated with
 * it: a ciphertext that is copied to another owner's row cannot be decrypted there.
 */
export class SecretBox {
  readonly #keys: ReadonlyMap<string, Buffer>
  readonly newestKeyId: string
  /** Keys of digests, by their purpose and the id of the master key that each is derived from. */
  readonly #digestKeys = new Map<string, Buffer>()

  /** @param masterKeys `id:base64key,id2:base64key2`, newest first; each key is 32 bytes */
  constructor(masterKeys: string) {
    const entries = masterKeys.split(',').map((entry): [string, Buffer] => {
      const [id = '', encoded = ''] = entry.trim().split(':')
      const key = Buffer.from(encoded, 'base64')
      if (!/^[A-Za-z0-9_-]{1,32}$/.test(id) || key.length !== 32) {
        throw new Error('MASTER_KEYS must be id:base64 pairs of 32-byte keys, separated by commas')
      }
      return [id, key]
    })
    this.#keys = new Map(entries)
    if (this.#keys.size !== entries.length) throw new Error('MASTER_KEYS names one id twice')
    this.newestKeyId = entries[0]?.[0] ?? ''
  }

  encrypt(secret: string | Uint8Array, context: string): string {
    const key = this.#keys.get(this.newestKeyId)
    if (key === undefined) throw new Error('MASTER_KEYS is empty')
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv(algorithm, key, nonce, fullTag).setAAD(Buffer.from(context))
    const ciphertext = Buffer.concat([
      typeof secret === 'string' ? cipher.update(secret, 'utf8') : cipher.update(secret),
      cipher.final(),
    ])
    return `${this.newestKeyId}.${Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64url')}`
  }

  /** @throws when the key is unknown, or the ciphertext or its context was changed */
  decrypt(sealed: string, context: string): string {
    return this.decryptBytes(sealed, context).toString('utf8')
  }

  /** @throws as `decrypt` does */
  decryptBytes(sealed: string, context: string): Buffer {
    const separator = sealed.indexOf('.')
    const key = this.#keys.get(sealed.slice(0, separator))
    if (key === undefined) throw new Error(`unknown master key id: ${sealed.slice(0, separator)}`)
    const bytes = Buffer.from(sealed.slice(separator + 1), 'base64url')
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), fullTag)
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()])
  }

  /** The same secret under the newest key; null when it is there already. */
  rewrap(sealed: string, context: string): string | null {
    if (sealed.startsWith(`${this.newestKeyId}.`)) return null
    return this.encrypt(this.decryptBytes(sealed, context), context)
  }

  /** A digest that nobody can find the text to by trying, without the master key: `<key id>.<base64url>`. */
  digest(text: string): string {
    return `${this.newestKeyId}.${this.#digestUnder(this.newestKeyId, text).toString('base64url')}`
  }

  /**
   * What a text is found by where it is stored encrypted: equal texts have equal digests. One for each master key, in the
   * form of `digest` and the newest first, since a stored one may be of an older key.
   */
  lookupDigests(text: string): string[] {
    return [...this.#keys.keys()].map((keyId) => {
      const digest = this.#digestUnder(keyId, text, 'lookup').subarray(0, lookupBytes)
      return `${keyId}.${digest.toString('base64url')}`
    })
  }

  /** Whether a digest is of this text; null when its master key is not known any more. */
  isDigestOf(digest: string, text: string): boolean | null {
    const separator = digest.indexOf('.')
    const keyId = digest.slice(0, separator)
    if (!this.#keys.has(keyId)) return null
    const expected = this.#digestUnder(keyId, text).toString('base64url')
    const [given, own] = [digest.slice(separator + 1), expected].map((part) => Buffer.from(part))
    return given !== undefined && own !== undefined && given.length === own.length && timingSafeEqual(given, own)
  }

  #digestUnder(keyId: string, text: string, purpose: 'digest' | 'lookup' = 'digest'): Buffer {
    const name = `${purpose} ${keyId}`
    let key = this.#digestKeys.get(name)
    if (key === undefined) {
      // A key of its own, since one key must not serve two algorithms.
      key = Buffer.from(hkdfSync('sha256', this.#keys.get(keyId) ?? '', '', purpose, 32))
      this.#digestKeys.set(name, key)
    }
    return createHmac('sha256', key).update(text).digest()
  }
}

/** Not a secret: it encrypts only what a development stack keeps. */
const developmentMasterKeys = `development:${Buffer.alloc(32, 'development').toString('base64')}`

/** @throws outside development when no master key is configured */
export function secretBoxFrom(config: {
  readonly MASTER_KEYS?: string | undefined
  readonly DEVELOPMENT: boolean
}): SecretBox {
  if (config.MASTER_KEYS === undefined && !config.DEVELOPMENT)
    throw new Error('MASTER_KEYS is required outside development')
  return new SecretBox(config.MASTER_KEYS ?? developmentMasterKeys)
}
