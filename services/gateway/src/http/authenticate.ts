import {
  type Operation,
  Rejection,
  type Scope,
  type StoredAmount,
  signaturesEqual,
  signRequest,
  timestampToleranceSeconds,
} from '@backoffice/contracts'
import { type Clock, callerAddress, holderOf, type Logger, Loop } from '@backoffice/process'
import { type Background, Batcher, type Database } from '@backoffice/service-runtime'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { KeyKind, KnownKey } from '../keys.ts'
import type { DayUse } from '../operators/operator.ts'
import { type Budget, type KnownCredential, type Tenant, writeCredentialUses } from '../operators/records.ts'
import { RetryLater, retryAfterSeconds } from './reply.ts'
import type { FailedAuthentications, Refusal, SecurityLog } from './security-log.ts'
import { explainedRejection, type SignatureFault, type SignedRequest, unknownKey } from './signature-hints.ts'

/** What it takes to find out who sends a request, for callers with one kind of key. */
export interface AuthenticationContext<Known extends KnownKey = KnownCredential> {
  readonly keys: KeyKind
  readonly directory: { find(key: string, address: string): Promise<Known | null> }
  readonly rateLimiter: { admit(budget: Budget, limit: number): Promise<number | null> }
  /** An address that has used up its failures is refused with RATE_LIMITED, unless what it sends is correctly signed. */
  readonly failures: Pick<FailedAuthentications, 'count'>
  readonly securityLog: Pick<SecurityLog, 'refused'>
  readonly uses: Pick<KeyUses, 'used'>
  readonly clock: Clock
  /** Where the page is that compares signatures, with its prefix; undefined: there is none. */
  readonly baseUrl: () => string | undefined
}

/** What is known of the caller once a request is let in. */
export interface AdmittedCaller {
  readonly key: string
  /** What the call acts for. */
  readonly scope: Scope
  /** Whether a signature is accepted for one request only. */
  readonly replayProtection: boolean
  /** Whose day the call counts for. */
  readonly tenant: Tenant
  readonly usedToday: DayUse
  readonly quotas: StoredAmount
}

/** Who sends a request, and from where. */
export interface Caller {
  readonly credential: AdmittedCaller
  readonly address: string
}

/** A request whose sender is known and may call the operation. */
export interface Access extends Caller {
  readonly operation: Operation
  readonly request: FastifyRequest
}

/** Notes what became of requests, in memory: no request waits for it. */
export interface Observer {
  /** Beside refusals, faults and replays: the answers to these operations, and all to these operators. */
  readonly awaits: { readonly operations: ReadonlySet<string>; readonly operators: ReadonlySet<string> }
  /** @param payload the body that is sent */
  answered(request: FastifyRequest, reply: FastifyReply, payload: unknown): void
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose key was sent, once it is known to exist. */
    sender: KnownKey | undefined
    /** The signature is right. */
    verified: boolean
    /** Set when the request is authenticated. */
    access: Access | undefined
  }
}

/** A request, with what is known of its sender before anything is verified. */
interface Claimed {
  readonly request: FastifyRequest
  readonly key: string
  readonly address: string
}

/**
 * Finds out which operator sends a request. The order of the checks is fixed: key, timestamp, signature, suspension,
 * address, rate.
 * @throws {Rejection} INVALID_CREDENTIALS, TIMESTAMP_OUT_OF_RANGE, INVALID_SIGNATURE, OPERATOR_SUSPENDED,
 *   FORBIDDEN_IP, RATE_LIMITED
 */
export async function authenticate(request: FastifyRequest, context: AuthenticationContext): Promise<Caller> {
  const { known: credential, address, refuse } = await verifySender(request, context)
  if (credential.suspended) throw refuse('OPERATOR_SUSPENDED')
  refuseForeignAddress(credential, address, refuse)
  await admitWithin(credential.rateLimitPerMinute, credential.scope, context)
  context.uses.used(credential.credentialId, context.clock.now())
  return { credential, address }
}

export const identifying = (context: AuthenticationContext) => (request: FastifyRequest) =>
  authenticate(request, context)

/** Makes the refusal of a request whose signature is right, and shows it in the security log. */
export type Refuse = (code: 'OPERATOR_SUSPENDED' | 'FORBIDDEN_IP' | 'BRAND_NOT_GRANTED') => Rejection

/**
 * Whose key signs a request: the first three checks of every surface.
 * @throws {Rejection} INVALID_CREDENTIALS, TIMESTAMP_OUT_OF_RANGE, INVALID_SIGNATURE, RATE_LIMITED
 */
export async function verifySender<Known extends KnownKey>(
  request: FastifyRequest,
  context: AuthenticationContext<Known>,
): Promise<{ readonly known: Known; readonly address: string; readonly refuse: Refuse }> {
  const { keys, directory, securityLog } = context
  const key = header(request, keys.header.toLowerCase()) ?? ''
  const address = callerAddress(request)
  const claimed = { request, key, address }
  // A key that exists is verified before anything is refused, whatever came from this address before.
  const known = keys.shape.test(key) ? await directory.find(key, address) : null
  if (known === null) throw countFailure(unknownKey(key, keys), { ...claimed, holder: undefined }, context)
  request.sender = known
  verifySignature(claimed, known, context)
  request.verified = true
  const refuse: Refuse = (code) => {
    securityLog.refused({ ...claimed, code, holder: known.holder })
    return new Rejection(code)
  }
  return { known, address, refuse }
}

/** @throws {Rejection} FORBIDDEN_IP */
export function refuseForeignAddress({ permittedAddresses }: KnownKey, address: string, refuse: Refuse): void {
  if (!permittedAddresses.isEmpty && !permittedAddresses.has(address)) throw refuse('FORBIDDEN_IP')
}

/** @throws {Rejection} RATE_LIMITED */
export async function admitWithin(
  perMinute: number,
  budget: Budget,
  { rateLimiter }: Pick<AuthenticationContext, 'rateLimiter'>,
): Promise<void> {
  const waitMs = await rateLimiter.admit(budget, perMinute)
  if (waitMs !== null) throw new RetryLater(retryAfterSeconds(waitMs), 'RATE_LIMITED')
}

type Judging = Pick<AuthenticationContext, 'failures' | 'securityLog' | 'clock' | 'baseUrl'>

function verifySignature(claimed: Claimed, known: KnownKey, context: Judging): void {
  const { request } = claimed
  const signed: SignedRequest = {
    method: request.method,
    path: request.raw.url ?? '',
    timestamp: header(request, 'x-timestamp'),
    signature: header(request, 'x-signature'),
    body: rawBody(request),
  }
  const now = context.clock.now()
  const code = judgeSignature(signed, known.secret, now)
  if (code === null) return
  const inSandbox = known.holder.environment === 'sandbox'
  const rejection = inSandbox
    ? explainedRejection(code, signed, { now, baseUrl: context.baseUrl() })
    : new Rejection(code)
  throw countFailure(rejection, { ...claimed, holder: known.holder }, context)
}

/** Counts a failure against the address, so that somebody who guesses keys soon has to wait. */
function countFailure(
  rejection: Rejection,
  claimed: Claimed & Pick<Refusal, 'holder'>,
  { failures, securityLog }: Judging,
): Rejection {
  const waitMs = failures.count(claimed.address)
  securityLog.refused({ ...claimed, code: rejection.code, limited: waitMs !== null })
  return waitMs === null ? rejection : new RetryLater(retryAfterSeconds(waitMs), 'RATE_LIMITED')
}

/** Whether X-Timestamp is epoch seconds, without leading zeros, within the tolerance, either way. */
function isTimely(timestamp: string | undefined, now: Date): boolean {
  if (timestamp === undefined || !/^[1-9]\d{0,11}$/.test(timestamp)) return false
  return Math.abs(now.getTime() / 1000 - Number(timestamp)) <= timestampToleranceSeconds
}

/**
 * Judges a request against the secret of its key.
 * @returns the code to refuse with, or null: TIMESTAMP_OUT_OF_RANGE before INVALID_SIGNATURE
 */
function judgeSignature(request: SignedRequest, secret: string, now: Date): SignatureFault | null {
  const { method, path, timestamp, signature, body } = request
  if (timestamp === undefined || !isTimely(timestamp, now)) return 'TIMESTAMP_OUT_OF_RANGE'
  if (signature === undefined) return 'INVALID_SIGNATURE'
  return signaturesEqual(signRequest(secret, { method, path, timestamp, body }), signature) ? null : 'INVALID_SIGNATURE'
}

/**
 * A header as one string. Node joins the values of a repeated header, and the result matches nothing that we accept.
 */
export function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

const noBytes = Buffer.alloc(0)

/** The bytes as sent; none for a request without a body. */
export function rawBody(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : noBytes
}

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
