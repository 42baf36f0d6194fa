import { apiPrefix, httpOperations, type Operation, type operations, Rejection } from '@backoffice/contracts'
import type { RpcClient } from '@backoffice/service-runtime'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { jsonContentType } from '../claims/claim.ts'
import { showMe } from '../operators/views.ts'
import { type AuthenticationContext, authenticate, type Caller, header, rawBody } from './authenticate.ts'
import type { KnownCredential } from './credentials.ts'
import type { Idempotency } from './idempotency.ts'
import { readInput } from './read-input.ts'
import {
  countReplay,
  type HttpReply,
  isFault,
  replyOfRejection,
  SignatureUsed,
  sendReply,
  toRejection,
} from './reply.ts'

export interface RouteContext {
  readonly authentication: AuthenticationContext
  readonly idempotency: Pick<Idempotency, 'claim' | 'useOnce' | 'storeReply' | 'releaseClaim'>
  readonly rpc: Pick<RpcClient, 'request'>
}

/** Every authenticated route, from the operation table. */
export function operationRoutes(context: RouteContext): RouteOptions[] {
  return httpOperations.flatMap((operation) => {
    const { http, audience, idempotency, id } = operation
    if (http === undefined || audience === 'public') return []
    const serve = idempotency === 'required' ? serveOnce : serveEachTime
    return {
      method: http.method,
      url: apiPrefix + http.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      config: { operation: id },
      async handler(request, reply) {
        if (operation.deprecated !== undefined) reply.headers(noticeOf(operation.deprecated))
        const caller = await admit(operation, request, context.authentication)
        try {
          return await serve({ operation, request, ...caller }, reply, context)
        } catch (error) {
          if (error instanceof SignatureUsed) noteUsedSignature(request, caller, context)
          throw error
        }
      },
    }
  })
}

/** RFC 9745 and RFC 8594. */
const noticeOf = ({ since, sunset }: NonNullable<Operation['deprecated']>) => ({
  Deprecation: `@${Date.parse(since) / 1000}`,
  Sunset: new Date(sunset).toUTCString(),
})

/** A request whose sender is known and may call the operation. */
interface AdmittedRequest extends Caller {
  readonly operation: Operation
  readonly request: FastifyRequest
}

/** Either a client sent two equal requests within a second, or somebody captured one and sends it again. */
function noteUsedSignature(
  request: FastifyRequest,
  { credential, address }: Caller,
  { authentication: { securityLog } }: RouteContext,
): void {
  securityLog.refused({ code: 'IDEMPOTENCY_CONFLICT', key: credential.key, credential, address, request })
}

/** The checks in their fixed order, from the signature to the media type. Fastify has made the checks before these. */
async function admit(
  operation: Operation,
  request: FastifyRequest,
  authentication: AuthenticationContext,
): Promise<Caller> {
  const caller = await authenticate(request, authentication)
  const { environment } = caller.credential.scope
  if (operation.http?.method !== 'GET') authentication.securityLog.admitted(request, { operation, ...caller })
  request.environment = environment
  if (operation.audience === 'sandbox' && environment !== 'sandbox') throw new Rejection('SANDBOX_ONLY')
  if (operation.hasBody) requireJson(request)
  return caller
}

async function serveEachTime(
  admitted: AdmittedRequest,
  reply: FastifyReply,
  { idempotency, rpc }: RouteContext,
): Promise<FastifyReply> {
  const { operation, request, credential } = admitted
  if (credential.replayProtection && operation.http?.method !== 'GET')
    await idempotency.useOnce(credential.scope, request)
  return sendReply(reply, await runOperation(admitted, rpc))
}

/** Claims the key, runs the operation, and stores the reply for retries. */
async function serveOnce(
  admitted: AdmittedRequest,
  reply: FastifyReply,
  { idempotency, rpc }: RouteContext,
): Promise<FastifyReply> {
  const { operation, request, credential } = admitted
  const claimed = await idempotency.claim(operation, credential, request)
  if (claimed.is === 'replay') {
    countReplay(operation)
    return sendReply(reply.header('Idempotent-Replayed', 'true'), claimed.reply)
  }
  const { claim } = claimed
  const outcome = await outcomeOf(runOperation(admitted, rpc, claim.operationId), request)
  if (outcome.is === 'unknown') {
    await idempotency.releaseClaim(claim)
    throw outcome.rejection
  }
  return sendReply(reply, await idempotency.storeReply(claim, outcome.reply))
}

/**
 * The outcome of an operation. A refusal is a reply too. After a fault, only a retry can tell whether the effect
 * happened.
 */
type Outcome =
  | { readonly is: 'known'; readonly reply: HttpReply }
  | { readonly is: 'unknown'; readonly rejection: Rejection }

async function outcomeOf(running: Promise<HttpReply>, request: FastifyRequest): Promise<Outcome> {
  try {
    return { is: 'known', reply: await running }
  } catch (error) {
    const rejection = toRejection(error)
    if (isFault(rejection)) return { is: 'unknown', rejection }
    return { is: 'known', reply: replyOfRejection(rejection, request.id) }
  }
}

/**
 * Runs the operation in its service. The reply is passed on as the bytes that the service wrote.
 * @throws {Rejection} VALIDATION_ERROR, and what the service refuses with
 */
async function runOperation(
  { operation, request, credential }: AdmittedRequest,
  rpc: RouteContext['rpc'],
  operationId?: string,
): Promise<HttpReply> {
  const input = readInput(operation, request) as never
  const { scope } = credential
  const requestId = request.id
  const { bytes } =
    operation.service === 'gateway'
      ? replyHere(operation.id as OwnOperation, credential)
      : await rpc.request(operation, { scope, input, requestId, ...(operationId === undefined ? {} : { operationId }) })
  return {
    status: operation.http?.status ?? 200,
    contentType: jsonContentType,
    body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    requestId,
  }
}

type GatewayOperation = (typeof operations)['gateway'][keyof (typeof operations)['gateway']]
type OwnOperation = Extract<GatewayOperation, { readonly audience: 'operator' | 'sandbox' }>['id']

/** The replies that need no other service. */
const ownReplies: Readonly<Record<OwnOperation, (credential: KnownCredential) => unknown>> = { getMe: showMe }

const replyHere = (id: OwnOperation, credential: KnownCredential): { readonly bytes: Uint8Array } => ({
  bytes: Buffer.from(JSON.stringify(ownReplies[id](credential))),
})

const jsonMediaType = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i

/** @throws {Rejection} UNSUPPORTED_MEDIA_TYPE when there is a body whose media type is not JSON */
function requireJson(request: FastifyRequest): void {
  if (rawBody(request).length === 0) return
  if (!jsonMediaType.test(header(request, 'content-type') ?? '')) throw new Rejection('UNSUPPORTED_MEDIA_TYPE')
}
