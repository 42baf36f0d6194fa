import { createHash, randomUUID } from 'node:crypto'
import {
  abandonOperation,
  allOperations,
  bodySha256,
  idempotencyKeyPattern,
  type Operation,
  Rejection,
  type Scope,
} from '@backoffice/contracts'
import { newId, type RpcClient, type Sql } from '@backoffice/service-runtime'
import type { FastifyRequest } from 'fastify'
import { retryAfterSeconds } from '../domain/retry-after.ts'
import {
  type ClaimKey,
  claimKey,
  forgetClaim,
  releaseClaim,
  type StoredResponse,
  storeResponse,
} from '../storage/claims.ts'
import { header, rawBody } from './authenticate.ts'
import { RetryLater } from './errors.ts'

export type { StoredResponse }

/** What a request holds between its claim and its reply. */
export interface HeldClaim {
  readonly key: ClaimKey
  readonly token: string
  readonly operationId: string
}

const keyExpression = new RegExp(idempotencyKeyPattern)
const resolveAttemptsMax = 3

/** Keeps each effect to one: claims the key before, stores the reply after. */
export class Idempotency {
  readonly #connection: () => Sql
  readonly #rpc: RpcClient
  readonly #leaseMs: number

  constructor(parts: { readonly connection: () => Sql; readonly rpc: RpcClient; readonly leaseMs: number }) {
    this.#connection = parts.connection
    this.#rpc = parts.rpc
    this.#leaseMs = parts.leaseMs
  }

  /**
   * Claims the key of a request, or answers what was stored under it.
   * @throws {Rejection} IDEMPOTENCY_KEY_REQUIRED, VALIDATION_ERROR, IDEMPOTENCY_CONFLICT, IDEMPOTENCY_IN_PROGRESS
   */
  async claim(operation: Operation, scope: Scope, request: FastifyRequest): Promise<HeldClaim | StoredResponse> {
    const { operatorId, environment } = scope
    const key: ClaimKey = { operatorId, environment, key: readKey(request) }
    const token = randomUUID()
    for (let attempt = 1; attempt <= resolveAttemptsMax; attempt++) {
      const claim = await claimKey(this.#connection(), {
        ...key,
        fingerprint: fingerprint(request),
        operation: operation.id,
        operationId: newId('opn'),
        token,
        leaseMs: this.#leaseMs,
      })
      switch (claim.state) {
        case 'mine':
          return { key, token, operationId: claim.operationId }
        case 'replay':
          return claim.response
        case 'conflict':
          throw new Rejection('IDEMPOTENCY_CONFLICT')
        case 'running':
          throw new RetryLater('IDEMPOTENCY_IN_PROGRESS', retryAfterSeconds(Math.min(claim.remainingMs, 1_000)))
        case 'unresolved':
          await this.#resolve(key, scope, claim)
          break
        default:
          claim satisfies never
      }
    }
    throw new RetryLater('IDEMPOTENCY_IN_PROGRESS', 1)
  }

  /** @throws {Rejection} IDEMPOTENCY_IN_PROGRESS when another attempt took the key over and has not answered yet */
  async store(claim: HeldClaim, response: StoredResponse): Promise<StoredResponse> {
    const stored = await storeResponse(this.#connection(), claim.key, claim.token, response)
    if (stored === null) throw new RetryLater('IDEMPOTENCY_IN_PROGRESS', 1)
    return stored
  }

  release(claim: HeldClaim): Promise<void> {
    return releaseClaim(this.#connection(), claim.key, claim.token)
  }

  /** The old effect is fenced, or known to have happened, before the key may name a new one. */
  async #resolve(
    key: ClaimKey,
    scope: Scope,
    old: { readonly operation: string; readonly operationId: string },
  ): Promise<void> {
    const operation = allOperations.find(({ id }) => id === old.operation)
    if (operation === undefined) throw new Error(`a claim names an unknown operation: ${old.operation}`)
    await this.#rpc.call(abandonOperation(operation.service), {
      scope,
      input: { abandonedOperationId: old.operationId },
    })
    await forgetClaim(this.#connection(), key, old.operationId)
  }
}

function readKey(request: FastifyRequest): string {
  const key = header(request, 'idempotency-key')
  if (key === undefined || key === '') throw new Rejection('IDEMPOTENCY_KEY_REQUIRED')
  if (keyExpression.test(key)) return key
  const message = 'must be 8 to 128 letters, digits, "_", "-", ":" or "."'
  throw new Rejection('VALIDATION_ERROR', { in: 'headers', issues: [{ path: '/idempotency-key', message }] })
}

function fingerprint(request: FastifyRequest): Buffer {
  const text = [request.method, request.raw.url, bodySha256(rawBody(request))].join('\n')
  return createHash('sha256').update(text).digest()
}
