import { secret } from '@backoffice/process'
import { Type } from '@sinclair/typebox'
import { type SecretBox, secretBoxFrom } from './secret-box.ts'

/** The settings of a service that stores data which `sealedKinds` of the contracts name. */
export const sealingSettings = {
  /** `id:base64key`, newest first, separated by commas. Required outside development. */
  MASTER_KEYS: Type.Optional(secret()),
}

/** Where a value is stored. What was sealed for one place can be opened nowhere else. */
export interface Place {
  /** `table.column` */
  readonly column: string
  /** What tells the row apart from all others of its table. */
  readonly row: string
}

/** A JSON text that stands in the column instead of the value itself, which is always an object. */
const isSealedJson = (value: unknown): value is string => typeof value === 'string'

const brace = '{'.charCodeAt(0)
/** Bodies are JSON objects. What is sealed begins with the id of a key, which has no brace. */
const isSealedBytes = (bytes: Buffer): boolean => bytes.length > 0 && bytes[0] !== brace

/**
 * Seals personal data at rest, and opens them. Both forms may stand in a table side by side: what was written before a
 * field was marked is clear.
 */
export class Vault {
  /** The schema of the tables. */
  readonly #schema: string
  readonly #box: SecretBox | null
  /** Whether what is written now is sealed. */
  readonly seals: boolean

  constructor(schema: string, box: SecretBox | null, { seals }: { readonly seals: boolean }) {
    this.#schema = schema
    this.#box = box
    this.seals = seals
  }

  seal(value: string | Uint8Array, place: Place): string {
    return this.#keys(place).encrypt(value, this.#contextOf(place))
  }

  /** @throws when the value was sealed for another place, or under a key that is not known */
  open(sealed: string, place: Place): string {
    return this.#keys(place).decrypt(sealed, this.#contextOf(place))
  }

  /** The same value under the newest key; null when it is there already. */
  renew(sealed: string, place: Place): string | null {
    return this.#keys(place).rewrap(sealed, this.#contextOf(place))
  }

  /** What a json column holds of a value whose JSON text is given. */
  sealJson(text: string, place: Place): string {
    return this.seals ? JSON.stringify(this.seal(text, place)) : text
  }

  /** The value of a json column, as the driver has parsed it. */
  openJson<T>(stored: T | string, place: Place): T {
    return isSealedJson(stored) ? (JSON.parse(this.open(stored, place)) as T) : stored
  }

  /** The value of a json column as it would be written now; null when it is stored so already. */
  renewJson(stored: unknown, place: Place): unknown {
    if (isSealedJson(stored)) return this.renew(stored, place)
    return this.seals && stored !== null ? this.seal(JSON.stringify(stored), place) : null
  }

  /** What a bytea column holds of the bytes of a JSON object. */
  sealBytes(bytes: Buffer, place: Place): Buffer {
    return this.seals ? Buffer.from(this.seal(bytes, place)) : bytes
  }

  openBytes(stored: Buffer, place: Place): Buffer {
    if (!isSealedBytes(stored)) return stored
    return this.#keys(place).decryptBytes(stored.toString('latin1'), this.#contextOf(place))
  }

  /** The bytes as they would be written now; null when they are stored so already. */
  renewBytes(stored: Buffer, place: Place): Buffer | null {
    if (!isSealedBytes(stored)) return this.seals && stored.length > 0 ? this.sealBytes(stored, place) : null
    const renewed = this.renew(stored.toString('latin1'), place)
    return renewed === null ? null : Buffer.from(renewed)
  }

  /** A digest under the newest key where personal data are sealed: a plain one of few possible texts can be guessed. */
  digest(plain: string): string {
    return this.seals && this.#box !== null ? this.#box.digest(plain) : plain
  }

  /** Whether a stored digest is that of `plain`; null when its key is not known any more. */
  isDigestOf(stored: string, plain: string): boolean | null {
    if (!stored.includes('.')) return stored === plain
    return this.#box === null ? null : this.#box.isDigestOf(stored, plain)
  }

  /**
   * What a value is found by where it may be sealed: a digest under each master key, the newest first. None where there are
   * no keys.
   */
  lookupDigests(value: string, column: string): string[] {
    return this.#box?.lookupDigests(`${this.#schema}.${column} ${value}`) ?? []
  }

  /** Whether it is written under the newest key. */
  isNewest(digest: string): boolean {
    return this.#box !== null && digest.startsWith(`${this.#box.newestKeyId}.`)
  }

  #keys({ column }: Place): SecretBox {
    if (this.#box === null) throw new Error(`there are no MASTER_KEYS to read ${column}`)
    return this.#box
  }

  #contextOf({ column, row }: Place): string {
    return `${this.#schema}.${column} ${row}`
  }
}

/** For whoever reads no personal data. */
export const noVault = new Vault('', null, { seals: false })

/**
 * The vault of a service with the settings above.
 * @param seals false only in tests, which look for what is written where
 * @throws outside development when no master key is configured
 */
export const vaultFrom = (
  schema: string,
  keys: { readonly DEVELOPMENT: boolean; readonly MASTER_KEYS?: string | undefined },
  { seals = true }: { readonly seals?: boolean | undefined } = {},
): Vault => new Vault(schema, secretBoxFrom(keys), { seals })
