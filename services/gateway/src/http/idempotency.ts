import { hash, randomUUID } from 'node:crypto'
import {
  allOperations,
  bodySha256,
  idempotencyKeyPattern,
  invalid,
  type KeyClaim,
  type Operation,
  operations,
  Rejection,
  type Scope,
} from '@backoffice/contracts'
import type { CallOptions, RpcClient } from '@backoffice/rpc'
import { Batcher, batchFaultOf, type Db } from '@backoffice/service-runtime'
import type { FastifyRequest } from 'fastify'
import type { Claim, StoredResponse } from '../claims/claim.ts'
import {
  areKeysUsed,
  type ClaimAttempt,
  type ClaimKey,
  type ClaimRequest,
  type Completion,
  claimKeys,
  forgetClaim,
  releaseClaims,
  type SignatureUse,
  storeResponses,
  useSignatures,
} from '../claims/records.ts'
import { type Access, type AdmittedCaller, header, rawBody } from './authenticate.ts'
import type { DailyUse } from './limits.ts'
import {
  countReplay,
  type HttpReply,
  isFault,
  RetryLater,
  replyOfRejection,
  replyOfStored,
  retryAfterSeconds,
  SignatureUsed,
  toRejection,
} from './reply.ts'

/** The claim that a request holds until its reply is stored. */
type HeldClaim = Omit<Completion, 'response'> & Pick<ClaimRequest, 'fingerprint'> & { readonly until: Date }

export type ClaimOutcome =
  | { readonly is: 'held'; readonly claim: HeldClaim }
  | { readonly is: 'replay'; readonly reply: HttpReply }

/** What a service keeps of the key that a claim holds. */
const keyClaimOf = ({ operatorId, environment, key, fingerprint, until }: HeldClaim): KeyClaim => ({
  // None of them has a space in it.
  digest: hash('sha256', `${operatorId} ${environment} ${key}`, 'base64url'),
  request: fingerprint.toString('base64url'),
  until: until.toISOString(),
})

const keyExpression = new RegExp(idempotencyKeyPattern)
const resolveAttemptsMax = 3

/**
 * Requests that wait together share a statement. While one batch waits for the disk, the next is sent. No statement
 * sets a lock time-out, because no claim's row stays locked for longer than one statement.
 */
function inBatches<Item extends Pick<ClaimKey, 'operatorId' | 'environment'>, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  bytesOf: (item: Item) => number = () => 0,
): Batcher<Item, Result> {
  return new Batcher({
    run,
    batchMax: 200,
    bytesMax: 1_000_000,
    bytesOf,
    queueMax: 5_000,
    concurrency: 2,
    ownerOf: ({ operatorId, environment }) => `${operatorId} ${environment}`,
    faultOf: batchFaultOf,
  })
}

/** Makes a request with an Idempotency-Key take effect once: claims the key before, and stores the reply after. */
export class Idempotency {
  readonly #db: Db
  readonly #rpc: Pick<RpcClient, 'call'>
  readonly #leaseMs: number
  // Each kind has its own queue: no claim waits for a reply to be stored.
  readonly #claims: Batcher<ClaimRequest, Claim>
  readonly #looks: Batcher<ClaimKey, boolean>
  readonly #uses: Batcher<SignatureUse, boolean>
  readonly #completions: Batcher<Completion, StoredResponse | null>
  readonly #releases: Batcher<ClaimAttempt, ClaimAttempt>

  constructor({
    db,
    rpc,
    leaseMs,
  }: { readonly db: Db; readonly rpc: Pick<RpcClient, 'call'>; readonly leaseMs: number }) {
    this.#db = db
    this.#rpc = rpc
    this.#leaseMs = leaseMs
    this.#claims = inBatches((requests) => claimKeys(db, requests))
    this.#looks = inBatches((keys) => areKeysUsed(db, keys))
    this.#uses = inBatches((uses) => useSignatures(db, uses))
    this.#completions = inBatches(
      (completions) => storeResponses(db, completions),
      ({ response }) => response.body.length,
    )
    this.#releases = inBatches(async (held) => {
      await releaseClaims(db, held)
      return held
    })
  }

  /**
   * Whether the request repeats one that has begun, and so stores nothing new.
   * @throws {Rejection} IDEMPOTENCY_KEY_REQUIRED, VALIDATION_ERROR
   */
  hasBegun({ operatorId, environment }: Scope, request: FastifyRequest): Promise<boolean> {
    return this.#looks.add({ operatorId, environment, key: readKey(request) })
  }

  /**
   * Claims the key of a request, or finds what was stored under it. With replay protection the same statement remembers
   * the signature for this key.
   * @throws {Rejection} IDEMPOTENCY_KEY_REQUIRED, VALIDATION_ERROR, IDEMPOTENCY_CONFLICT, IDEMPOTENCY_IN_PROGRESS
   * @throws {SignatureUsed} under replay protection
   */
  async claim(
    operation: Operation,
    { scope, replayProtection }: Pick<AdmittedCaller, 'scope' | 'replayProtection'>,
    request: FastifyRequest,
  ): Promise<ClaimOutcome> {
    const { operatorId, environment } = scope
    const key: ClaimKey = { operatorId, environment, key: readKey(request) }
    const token = randomUUID()
    const fingerprint = fingerprintOf(request)
    const signatureDigest = replayProtection ? digestOfSignature(request) : null
    for (let attempt = 1; attempt <= resolveAttemptsMax; attempt++) {
      const claim = await this.#claims.add({
        ...key,
        token,
        fingerprint,
        operation: operation.id,
        operationId: operationIdOf(request.id),
        leaseMs: this.#leaseMs,
        signatureDigest,
      })
      switch (claim.state) {
        case 'mine':
          return {
            is: 'held',
            claim: {
              ...{ ...key, token, fingerprint, operation: operation.id },
              ...{ operationId: claim.operationId, until: claim.until },
            },
          }
        case 'replay':
          return { is: 'replay', reply: replyOfStored(claim.response) }
        case 'conflict':
          throw new Rejection('IDEMPOTENCY_CONFLICT')
        case 'signature used':
          throw new SignatureUsed()
        case 'running':
          throw new RetryLater(retryAfterSeconds(Math.min(claim.remainingMs, 1_000)), 'IDEMPOTENCY_IN_PROGRESS')
        case 'unresolved':
          await this.#resolve(key, scope, claim)
          break
        default:
          claim satisfies never
      }
    }
    throw new RetryLater(1, 'IDEMPOTENCY_IN_PROGRESS')
  }

  /**
   * Accepts the signature of a request that has no Idempotency-Key, once.
   * @throws {SignatureUsed} from the second time on
   */
  async useOnce({ operatorId, environment }: Scope, request: FastifyRequest): Promise<void> {
    const signatureDigest = digestOfSignature(request)
    // No Idempotency-Key has a space in it.
    const key = `request ${randomUUID()}`
    const accepted = await this.#uses.add({ operatorId, environment, signatureDigest, key })
    if (!accepted) throw new SignatureUsed()
  }

  /**
   * Stores the reply.
   * @returns what is stored now: another attempt may have been first
   * @throws {Rejection} IDEMPOTENCY_IN_PROGRESS when another attempt took the key over and has not replied yet, or when
   *   the key has expired and stands for another operation; SERVICE_UNAVAILABLE when it cannot be stored: the effect
   *   stands, and a retry with the same key finds it
   */
  async storeReply(claim: HeldClaim, reply: HttpReply): Promise<HttpReply> {
    const stored = await this.#completions.add({ ...claim, response: reply }).catch(unavailable)
    if (stored === null) throw new RetryLater(1, 'IDEMPOTENCY_IN_PROGRESS')
    return stored === reply ? reply : replyOfStored(stored)
  }

  /**
   * Ends the lease after an unknown outcome.
   * @throws {Rejection} SERVICE_UNAVAILABLE
   */
  async releaseClaim(claim: HeldClaim): Promise<void> {
    await this.#releases.add(claim).catch(unavailable)
  }

  /**
   * Before the key may stand for a new effect, the old one must be known to have happened, or be prevented for good.
   */
  async #resolve(
    key: ClaimKey,
    scope: Scope,
    old: { readonly operation: string; readonly operationId: string },
  ): Promise<void> {
    const operation = allOperations.find(({ id }) => id === old.operation)
    if (operation === undefined) throw new Error(`a claim names an unknown operation: ${old.operation}`)
    await this.#rpc.call(operations[operation.service].abandonOperation, {
      scope,
      input: { abandonedOperationId: old.operationId },
    })
    await forgetClaim(this.#db, key, old.operationId)
  }
}

/** A request and the operation that it begins have one id under two prefixes. */
const operationIdOf = (requestId: string): string => requestId.replace(/^req_/, 'opn_')

function unavailable(cause: unknown): never {
  throw cause instanceof Rejection ? cause : new Rejection('SERVICE_UNAVAILABLE', undefined, { cause })
}

function readKey(request: FastifyRequest): string {
  const key = header(request, 'idempotency-key')
  if (key === undefined || key === '') throw new Rejection('IDEMPOTENCY_KEY_REQUIRED')
  if (keyExpression.test(key)) return key
  throw invalid('headers', '/idempotency-key', 'must be 8 to 128 letters, digits, "_", "-", ":" or "."')
}

/** What a key stands for: method, path as sent, and the bytes of the body. */
function fingerprintOf(request: FastifyRequest): Buffer {
  const text = [request.method, request.raw.url, bodySha256(rawBody(request))].join('\n')
  return hash('sha256', text, 'buffer')
}

/** A verified signature has one spelling, so nobody can change it and be taken for another. */
const digestOfSignature = (request: FastifyRequest): Buffer =>
  hash('sha256', header(request, 'x-signature') ?? '', 'buffer')

/** Runs the operation of a request in its service. */
export type Run = (effect?: Pick<CallOptions<Operation>, 'operationId' | 'key'>) => Promise<HttpReply>

export interface Serving {
  readonly idempotency: Pick<Idempotency, 'hasBegun' | 'claim' | 'useOnce' | 'storeReply' | 'releaseClaim'>
  readonly dailyUse: Pick<DailyUse, 'refusalOf' | 'begun' | 'ended'>
}

export async function serveEachTime(access: Access, { idempotency, dailyUse }: Serving, run: Run): Promise<HttpReply> {
  const { operation, request, credential } = access
  if (operation.stores !== undefined) {
    const refusal = dailyUse.refusalOf(access)
    if (refusal !== null) throw refusal
    dailyUse.begun(access)
  }
  if (credential.replayProtection && operation.http?.method !== 'GET')
    await idempotency.useOnce(credential.scope, request)
  return run()
}

/** Claims the key, runs the operation, and stores the reply for retries. A refusal is a reply too. */
export async function serveOnce(access: Access, { idempotency, dailyUse }: Serving, run: Run): Promise<HttpReply> {
  const { operation, request, credential } = access
  const refusal = dailyUse.refusalOf(access)
  if (refusal !== null && !(await idempotency.hasBegun(credential.scope, request))) throw refusal
  const claimed = await idempotency.claim(operation, credential, request)
  if (claimed.is === 'replay') {
    countReplay(operation)
    return { ...claimed.reply, isReplay: true }
  }
  const { claim } = claimed
  dailyUse.begun(access)
  let reply: HttpReply
  try {
    reply = await run({ operationId: claim.operationId, key: keyClaimOf(claim) })
  } catch (error) {
    const rejection = toRejection(error)
    if (isFault(rejection)) {
      // Only a retry can tell whether the effect happened.
      dailyUse.ended(access, undefined)
      await idempotency.releaseClaim(claim)
      throw rejection
    }
    reply = replyOfRejection(rejection, request.id)
  }
  dailyUse.ended(access, reply)
  return idempotency.storeReply(claim, reply)
}
