import {
  apiPrefix,
  apiVersion,
  type ErrorCode,
  errorCatalogue,
  httpOperations,
  type Operation,
  Rejection,
  type Scope,
} from '@backoffice/contracts'
import type { Logger, RpcClient } from '@backoffice/service-runtime'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type AuthenticationParts, authenticate, header, rawBody } from './authenticate.ts'
import type { KnownCredential } from './credential-directory.ts'
import { errorBody, jsonContentType, retryAfterOf, toRejection } from './errors.ts'
import type { HeldClaim, Idempotency, StoredResponse } from './idempotency.ts'
import { readInput } from './read-input.ts'
import { countReplay, note } from './telemetry.ts'

export interface RouteParts {
  readonly authentication: AuthenticationParts
  readonly idempotency: Idempotency
  readonly rpc: RpcClient
  readonly log: Logger
}

/** Every authenticated route, from the operation table. */
export function registerOperations(app: FastifyInstance, parts: RouteParts): void {
  for (const operation of httpOperations) {
    if (operation.http === undefined || operation.audience === 'public') continue
    app.route({
      method: operation.http.method,
      url: apiPrefix + operation.http.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      config: { operation: operation.id },
      handler: (request, reply) => handle(operation, request, reply, parts),
    })
  }
}

/** The decided order of checks, from the signature on; what stands before it is Fastify's. */
async function handle(
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
  parts: RouteParts,
): Promise<FastifyReply> {
  const credential = await authenticate(request, parts.authentication)
  note(request, { environment: credential.scope.environment })
  if (operation.audience === 'sandbox' && credential.scope.environment !== 'sandbox')
    throw new Rejection('SANDBOX_ONLY')
  if (operation.hasBody) requireJson(request)
  if (operation.idempotency === 'none')
    return send(reply, await answer(operation, request, credential, undefined, parts))
  const claim = await parts.idempotency.claim(operation, credential.scope, request)
  if ('status' in claim) {
    countReplay(operation)
    return send(reply.header('Idempotent-Replayed', 'true'), claim)
  }
  return send(reply, await settle(claim, await answer(operation, request, credential, claim, parts), parts))
}

/** Stores what is known, and gives the key back when it is not. */
async function settle(claim: HeldClaim, response: Answer, { idempotency, log }: RouteParts): Promise<Answer> {
  try {
    if (response.status < 500) return await idempotency.store(claim, response)
    await idempotency.release(claim)
    return response
  } catch (error) {
    if (error instanceof Rejection) return toAnswer(error, response.requestId)
    log.error({ err: error, operationId: claim.operationId }, 'the reply could not be stored under its key')
    // The effect stands in its service: a retry with the same key finds it.
    return toAnswer(new Rejection('SERVICE_UNAVAILABLE'), response.requestId)
  }
}

interface Answer extends StoredResponse {
  readonly retryAfterSeconds?: number | undefined
}

/** Runs the operation. Every outcome, refusals and faults included, is an answer. */
async function answer(
  operation: Operation,
  request: FastifyRequest,
  credential: KnownCredential,
  claim: HeldClaim | undefined,
  { rpc, log }: RouteParts,
): Promise<Answer> {
  const requestId = request.id
  try {
    const input = readInput(operation, request)
    const body =
      operation.id === 'getMe'
        ? me(credential)
        : await rpc.call(operation, {
            scope: credential.scope,
            input: input as never,
            requestId,
            ...(claim === undefined ? {} : { operationId: claim.operationId }),
          })
    return {
      status: operation.http?.status ?? 200,
      contentType: jsonContentType,
      body: Buffer.from(JSON.stringify(body)),
      requestId,
    }
  } catch (error) {
    const rejection = toRejection(error)
    if (errorCatalogue[rejection.code].status >= 500) {
      log.warn(
        { operation: operation.id, requestId, code: rejection.code, err: (error as Error).cause ?? error },
        'no outcome',
      )
    }
    return toAnswer(rejection, requestId)
  }
}

function toAnswer(rejection: Rejection, requestId: string): Answer {
  return {
    status: errorCatalogue[rejection.code].status,
    contentType: jsonContentType,
    body: Buffer.from(errorBody(rejection.code, { requestId, details: rejection.details })),
    requestId,
    retryAfterSeconds: retryAfterOf(rejection),
  }
}

/** The code of a refusal, whether it was made now or stored by whoever was first. */
function codeIn({ status, body }: StoredResponse): ErrorCode | undefined {
  return status < 400 ? undefined : (JSON.parse(body.toString()) as { error: { code: ErrorCode } }).error.code
}

/** A replay carries the first request's id, so that the one in its body still matches. */
function send(reply: FastifyReply, answer: Answer): FastifyReply {
  const { status, contentType, body, requestId, retryAfterSeconds } = answer
  note(reply.request, { code: codeIn(answer) })
  if (retryAfterSeconds !== undefined) reply.header('Retry-After', String(retryAfterSeconds))
  return reply.code(status).header('Content-Type', contentType).header('X-Request-Id', requestId).send(body)
}

function me({ scope, operatorName, brandName }: KnownCredential & { scope: Scope }) {
  return {
    operator: { id: scope.operatorId, name: operatorName, environment: scope.environment },
    brand: { id: scope.brandId, name: brandName, currency: scope.currency, isSandbox: scope.environment === 'sandbox' },
    apiVersion,
  }
}

const jsonMediaType = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i

/** @throws {Rejection} UNSUPPORTED_MEDIA_TYPE when there is a body and it is not said to be JSON */
function requireJson(request: FastifyRequest): void {
  if (rawBody(request).length === 0) return
  if (!jsonMediaType.test(header(request, 'content-type') ?? '')) throw new Rejection('UNSUPPORTED_MEDIA_TYPE')
}
