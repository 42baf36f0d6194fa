import {
  allOperations,
  defined,
  errorCatalogue,
  headerNames,
  type Operation,
  Rejection,
  teamHeaders,
} from '@backoffice/contracts'
import type { Logger } from '@backoffice/process'
import { RpcClient } from '@backoffice/rpc'
import { IdentityRefused, type Proof, sessionIn, strongLoginOf } from '@backoffice/team-access/identity'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ConsoleContext } from '../context.ts'
import { whoAmI } from '../identity/person.ts'
import { refuseOtherAgreement } from '../settings.ts'
import { isPassing } from './errors.ts'

const minuteMs = 60_000
const operationIdPattern = /^[A-Za-z0-9_.:-]{1,64}$/
const bodyBytesMax = 64 * 1024

interface Signed {
  readonly operationId: string
  readonly input: Readonly<Record<string, unknown>>
  /** The proposal of somebody else that the call carries out. */
  readonly approves: { readonly approves?: string }
  readonly proof: Proof
}

const teamOperations = new Map(
  allOperations
    .filter(({ audience }) => audience === 'team')
    .map((operation) => [`${operation.service}.${operation.id}`, operation as Operation]),
)

/**
 * Passes calls of the command line on to the services, as they were signed: this program cannot change them. What the
 * services would not take for a call of the team is refused here, so that it does not reach the broker.
 *
 * A browser cannot use it for somebody: no cookie is read, and other origins get no permission (CORS).
 */
export function registerRelay(app: FastifyInstance, context: ConsoleContext & { readonly version: string }): void {
  const { clock, config, log, nats, verifier, version } = context
  const bySession = app.createRateLimit({
    max: config.CONSOLE_CALLS_PER_MINUTE,
    timeWindow: minuteMs,
    keyGenerator: (request: FastifyRequest) => `session ${request.callerSession ?? ''}`,
  })
  app.decorateRequest('callerSession', undefined)

  app.post('/calls/:service/:operation', { bodyLimit: bodyBytesMax, errorHandler }, async (request, reply) => {
    const operation = operationOf(request)
    const { operationId, input, approves, proof } = readSigned(request)
    const name = `${operation.service}.${operation.id}`
    const caller = await verifier.verify({ operation: name, operationId, input, ...approves }, proof, clock.now())
    if (caller.tool === 'console') throw new IdentityRefused('call', 'the console makes no calls here')
    request.callerSession = caller.session
    const limit = await bySession(request)
    if (!limit.isAllowed && limit.isExceeded) {
      reply.header('Retry-After', String(limit.ttlInSeconds))
      throw new Rejection('RATE_LIMITED')
    }
    refuseOtherAgreement(config, operation, input)
    const rpc = new RpcClient(nats, { sign: async () => proof })
    const bytes = await rpc.request(operation, { input: input as never, operationId, ...approves })
    return reply.type('application/json; charset=utf-8').send(bytes)
  })

  /** Who the services take a caller for. It is signed like a call, and goes no further. */
  app.post('/whoami', { bodyLimit: bodyBytesMax, errorHandler }, async (request) => {
    const { operationId, input, proof } = readSigned(request)
    const call = { operation: whoAmI, operationId, input }
    const { kind, name, roles, loggedInAt } = await verifier.verify(call, proof, clock.now())
    const { idToken } = proof
    const session = idToken === undefined ? undefined : sessionIn(idToken, config.TEAM_SESSION_HOURS)
    const endsAt = session?.endsAt.toISOString() ?? null
    const { TEAM_AUDIENCES, TEAM_GROUPS_CLAIM, TEAM_GROUP_ROLES, TEAM_NAME_CLAIM, TEAM_SESSION_HOURS } = config
    const { TEAM_ACR_CLAIM, TEAM_STRONG_ACR, TEAM_STRONG_AMR } = config
    return {
      ...{ name, kind, roles: [...roles], loggedInAt: loggedInAt?.toISOString() ?? null, endsAt },
      // How the services read ID tokens. Whose tokens they are, the command line knows from its own login.
      identity: {
        ...{ TEAM_AUDIENCES, TEAM_GROUPS_CLAIM, TEAM_GROUP_ROLES, TEAM_NAME_CLAIM, TEAM_SESSION_HOURS },
        ...{ TEAM_ACR_CLAIM, TEAM_STRONG_ACR, TEAM_STRONG_AMR },
      },
    }
  })

  const { CONSOLE_CLI_CLIENT_ID: clientId, TEAM_ISSUER: issuer } = config
  app.get('/cli', () => ({ issuer, clientId, strongLogin: strongLoginOf(config), version }))

  /** What the command line reads of a refusal: the same as the services say. */
  function errorHandler(error: unknown, _request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { code, details } = rejectionOf(error, log)
    const { status, message } = errorCatalogue[code]
    return reply.code(status).send({ error: { code, message, ...(details === undefined ? {} : { details }) } })
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a call that was verified: the thumbprint of the session's key. */
    callerSession: string | undefined
  }
}

function operationOf(request: FastifyRequest): Operation {
  const { service, operation: id } = request.params as { readonly service: string; readonly operation: string }
  const operation = teamOperations.get(`${service}.${id}`)
  if (operation === undefined) throw new Rejection('NOT_FOUND')
  return operation
}

/** @throws {Rejection} when it is not signed, or has no operation id or input */
function readSigned(request: FastifyRequest): Signed {
  const header = (name: string) => {
    const value = request.headers[name.toLowerCase()]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const proof = header(teamHeaders.proof)
  if (proof === undefined) throw new IdentityRefused('no proof', `the header ${teamHeaders.proof} is missing`)
  const operationId = header(headerNames.operationId)
  if (operationId === undefined || !operationIdPattern.test(operationId))
    throw new Rejection('VALIDATION_ERROR', {
      in: 'headers',
      issues: [{ path: headerNames.operationId, message: 'must be 1 to 64 letters, digits, _ . : or -' }],
    })
  const authorization = header('Authorization')
  const [, idToken] = /^Bearer ([\w.-]+)$/i.exec(authorization ?? '') ?? []
  if (authorization !== undefined && idToken === undefined)
    throw new IdentityRefused('ID token', 'the header Authorization is not "Bearer" and an ID token')
  const input = request.body
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw new Rejection('VALIDATION_ERROR', { in: 'body', issues: [{ path: '', message: 'must be a JSON object' }] })
  return {
    operationId,
    input: input as Signed['input'],
    approves: defined({ approves: header(headerNames.approves) }),
    proof: { idToken, proof },
  }
}

/** Fastify's own refusals, by their status. */
const codesByStatus = {
  400: 'VALIDATION_ERROR',
  // A page of another site sent it. It speaks for nobody.
  403: 'LOGIN_REQUIRED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'RATE_LIMITED',
} as const

function rejectionOf(error: unknown, log: Logger): Pick<Rejection, 'code' | 'details'> {
  if (error instanceof Rejection) return error
  if (error instanceof IdentityRefused)
    return { code: 'LOGIN_REQUIRED', details: { reason: error.reason, message: error.message } }
  if (isPassing(error)) return { code: 'SERVICE_UNAVAILABLE', details: undefined }
  const { statusCode } = error as { readonly statusCode?: keyof typeof codesByStatus }
  const code = statusCode === undefined ? undefined : codesByStatus[statusCode]
  if (code !== undefined) return { code, details: undefined }
  log.error({ err: error }, 'a call could not be passed on')
  return { code: 'INTERNAL_ERROR', details: undefined }
}
