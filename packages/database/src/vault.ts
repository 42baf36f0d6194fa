import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import {
  allOperations,
  eventKinds,
  events,
  hasSealed,
  type Operation,
  putBack,
  type TakenOut,
  takeOut,
} from '@backoffice/contracts'
import { secret } from '@backoffice/process'
import { type TSchema, Type } from '@sinclair/typebox'

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

  get hasOneKey(): boolean {
    return this.#keys.size === 1
  }

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

  /** Whether a stored digest finds every equal value: not while a second master key is there, nor where it is not written yet. */
  findsAll(digest: string | null): boolean {
    return this.#box === null || (this.#box.hasOneKey && digest !== null && this.isNewest(digest))
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

// Which of the runtime's own rows are copies of personal data that must be sealed. The marks of the schemas say it.

const givenOf = ({ params, query, body }: Operation): readonly TSchema[] => [params, query, body]
const isGivenSealed = (operation: Operation) => givenOf(operation).some(hasSealed)
const idsOf = (operations: readonly Operation[]) => new Set(operations.map(({ id }) => id))

const repliesToSeal = idsOf(allOperations.filter(({ reply }) => hasSealed(reply)))
const inputsToSeal = idsOf(allOperations.filter(isGivenSealed))
/** The schemas of what a message carries, by its name: the kind of an event, or service and id of an operation. */
const messagesToSeal = new Map<string, readonly TSchema[]>([
  ...eventKinds.filter((kind) => hasSealed(events[kind].data)).map((kind) => [kind, [events[kind].data]] as const),
  ...allOperations.filter(isGivenSealed).map((called) => [`${called.service}.${called.id}`, givenOf(called)] as const),
])

/** @param operation its id */
export const isReplyToSeal = (operation: string): boolean => repliesToSeal.has(operation)
/** @param kind of an event */
export const isEventToSeal = (kind: string): boolean => messagesToSeal.has(kind)

export const placeOfReply = (operationId: string): Place => ({ column: 'operation.reply', row: operationId })
export const placeOfPayload = (id: bigint): Place => ({ column: 'set_aside_message.payload', row: String(id) })
const placeOfMessage = (id: string): Place => ({ column: 'outbox.message', row: id })

/** What is kept of an operation's input: few inputs are possible for some, so a plain digest would give them away. */
export const digestToKeep = (vault: Vault, operation: string, digest: string): string =>
  inputsToSeal.has(operation) ? vault.digest(digest) : digest

/** A message of the outbox as it is stored. `sealed` are the texts that were taken out of it. */
export interface StoredMessage {
  readonly event?: { readonly data: unknown }
  readonly input?: unknown
  readonly sealed?: string
}

interface MessageKey {
  readonly id: string
  readonly name: string
}

/**
 * A message without what must be sealed of it. The rest stays readable: reconciliation compares events with records, and has
 * no key.
 */
export function sealMessage<M extends StoredMessage>(vault: Vault, { id, name }: MessageKey, message: M): M {
  if (!vault.seals) return message
  const { event } = message
  const taken: TakenOut[] = []
  let rest = event === undefined ? message.input : event.data
  for (const schema of messagesToSeal.get(name) ?? []) {
    const found = takeOut(schema, rest)
    rest = found.rest
    taken.push(...found.taken)
  }
  if (taken.length === 0) return message
  const sealed = vault.seal(JSON.stringify(taken), placeOfMessage(id))
  return event === undefined
    ? { ...message, input: rest, sealed }
    : { ...message, event: { ...event, data: rest }, sealed }
}

/** @throws when it was sealed under a master key that is not known */
export function openMessage<M extends StoredMessage>(
  vault: Vault,
  id: string,
  { sealed, ...message }: M,
): Omit<M, 'sealed'> {
  if (sealed === undefined) return message
  const taken = JSON.parse(vault.open(sealed, placeOfMessage(id))) as TakenOut[]
  const { event, input } = message
  return event === undefined
    ? { ...message, input: putBack(input, taken) }
    : { ...message, event: { ...event, data: putBack(event.data, taken) } }
}

/** The message as it would be written now; null when it is stored so already. */
export function renewMessage(vault: Vault, key: MessageKey, message: StoredMessage): StoredMessage | null {
  if (message.sealed === undefined) {
    const sealed = sealMessage(vault, key, message)
    return sealed === message ? null : sealed
  }
  const sealed = vault.renew(message.sealed, placeOfMessage(key.id))
  return sealed === null ? null : { ...message, sealed }
}
