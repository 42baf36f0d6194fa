import { METHODS } from 'node:http'
import type { Socket } from 'node:net'
import { type ErrorCode, invalid, Rejection } from '@backoffice/contracts'
import { addressOfHop, durations, httpFrame, type IsTrusted, type Logger, newId } from '@backoffice/process'
import { trace } from '@opentelemetry/api'
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type HTTPMethods,
  type RouteOptions,
} from 'fastify'
import type { Observer } from './authenticate.ts'
import {
  isFault,
  refuseBrokenRequest,
  refuseOutside,
  replyOfRejection,
  safetyHeaders,
  sendBadRequest,
  toRejection,
  type Unread,
} from './reply.ts'
import { operationRoutes, type RouteContext, sendReply } from './routes.ts'
import { securityLines } from './security-log.ts'
import { type ErrorWords, operatorSurface, type Surface } from './surface.ts'

export interface AppOptions extends RouteContext {
  readonly log: Logger
  readonly tls: boolean
  /** Whether an address is a proxy of ours. */
  readonly isTrusted: IsTrusted
  /** What anybody may read. */
  readonly documents?: readonly RouteOptions[]
  readonly observers?: readonly Observer[]
  readonly unread?: Unread
}

/** The HTTP API of a surface, without a listener: see `HttpListener`. */
export function buildApp(options: AppOptions): FastifyInstance {
  const { log, tls, isTrusted, documents = [], observers = [], unread, ...context } = options
  const { surface } = context
  const app = createServer({ log, tls, isTrusted, unread, surface })
  warnOfProxies(app, { isTrusted, log })
  measureRequests(app, surface)
  app.decorateRequest('access').decorateRequest('sender').decorateRequest('verified', false)
  const lines = securityLines(log)
  // Not onResponse, which a client that breaks off prevents.
  app.addHook('onSend', (request, reply, payload, done) => {
    showRequest(lines, request, reply)
    for (const observer of observers)
      if (isAwaited(observer, request, reply)) observer.answered(request, reply, payload)
    done()
  })
  const routes = [...operationRoutes(context), ...documents]
  // HEAD answers where GET does, and is signed as HEAD.
  for (const route of routes)
    app.route(route.method === 'GET' ? { ...route, onRequest: refuseBody, exposeHeadRoute: true } : route)
  for (const route of otherMethods(routes, surface.words)) app.route(route)
  return app
}

function isAwaited({ awaits }: Observer, { access, refusedWith }: FastifyRequest, reply: FastifyReply): boolean {
  if (refusedWith !== undefined || reply.hasHeader('Idempotent-Replayed')) return true
  if (access === undefined) return false
  return awaits.operations.has(access.operation.id) || awaits.operators.has(access.credential.scope.operatorId)
}

/** A line of the security log for a request that may have changed something: who sent it, and what became of it. */
function showRequest(lines: Logger, { access, refusedWith: code }: FastifyRequest, reply: FastifyReply): void {
  if (access === undefined || access.operation.http?.method === 'GET') return
  const { operation, credential, address } = access
  const { operatorId, environment, provider, brandId } = credential.scope
  lines.info(
    {
      event: 'request',
      operation: operation.id,
      operatorId,
      ...(provider === undefined ? {} : { providerId: provider.id, brandId }),
      environment,
      keyId: credential.key,
      address,
      requestId: reply.getHeader('X-Request-Id'),
      status: reply.statusCode,
      code,
      replayed: reply.hasHeader('Idempotent-Replayed'),
      durationMs: Math.round(reply.elapsedTime),
    },
    'a request was answered',
  )
}

/** How long a client may take to send its headers, and its whole request. */
const headersTimeoutMsDefault = 10_000
const requestTimeoutMsDefault = 20_000
/** Longer than the idle time of common load balancers, so that the load balancer closes an idle connection, not we. */
const keepAliveTimeoutMs = 75_000
const pathParameterLengthMax = 256
/**
 * A letter, digit, `-`, `.`, `_` or `~` that is percent-encoded, which it need not be (RFC 3986, 2.3). A path has one
 * spelling, so that a rule of a proxy in front of us cannot be passed by with another one.
 */
const encodesNeedlessly = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/i

export interface ServerOptions {
  readonly log: Logger
  readonly tls?: boolean
  /** Whose X-Forwarded-For is believed; nobody's by default. */
  readonly isTrusted?: IsTrusted
  readonly headersTimeoutMs?: number
  readonly requestTimeoutMs?: number
  /** Is told of bytes that are no request. */
  readonly unread?: Unread | undefined
  readonly surface?: Pick<Surface, 'bodyBytesMax' | 'words'>
}

/** The HTTP server without routes: request ids, raw bodies, and one error envelope for everything that goes wrong. */
export function createServer({
  log,
  tls = false,
  isTrusted = () => false,
  headersTimeoutMs = headersTimeoutMsDefault,
  requestTimeoutMs = requestTimeoutMsDefault,
  unread,
  surface: { bodyBytesMax, words } = operatorSurface,
}: ServerOptions): FastifyInstance {
  const refusing = { words, unread }
  const sendRejection = rejecting(words)
  const underWay = new WeakMap<Socket, FastifyReply>()
  const app = fastify({
    ...httpFrame({ tls, bodyBytesMax, requestTimeoutMs, headersTimeoutMs, requireHostHeader: false }),
    keepAliveTimeout: keepAliveTimeoutMs,
    trustProxy: isTrusted,
    routerOptions: { maxParamLength: pathParameterLengthMax },
    exposeHeadRoutes: false,
    genReqId: () => newId('req'),
    frameworkErrors: (error, _request, reply) => {
      void sendRejection(reply, toRejection(error))
    },
    clientErrorHandler: (error, socket) => {
      const reply = underWay.get(socket)
      // What is broken came after a whole request. That request may have an effect, so it gets its own response.
      if (reply?.request.raw.complete && socket.writable) reply.raw.once('close', () => socket.destroySoon())
      else refuseBrokenRequest(error, socket, refusing)
    },
  })
  // Node by itself would refuse an expectation that it does not know, without the envelope. It may as well be ignored.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', (_request, socket: Socket) => refuseOutside(socket, 'NOT_FOUND', refusing))
  takeAsSent(app)
  app.addHook('onRequest', (request, reply, done) => {
    underWay.set(request.raw.socket, reply)
    reply.header('X-Request-Id', request.id)
    reply.headers(safetyHeaders)
    const fault = faultOfFraming(request)
    if (fault !== undefined) {
      sendBadRequest(reply, fault, words)
      return
    }
    const [path = ''] = request.raw.url?.split('?', 1) ?? []
    // A target in absolute form names a host, so it is not a path of ours.
    done(path.startsWith('/') && !encodesNeedlessly.test(path) ? undefined : new Rejection('NOT_FOUND'))
  })
  app.addHook('onResponse', ({ raw: { socket } }, reply, done) => {
    if (underWay.get(socket) === reply) underWay.delete(socket)
    done()
  })
  app.setNotFoundHandler((_request, reply) => sendRejection(reply, new Rejection('NOT_FOUND')))
  app.setErrorHandler((error, request, reply) => {
    // A client that breaks off is not our fault, and nobody reads the reply.
    const rejection = request.raw.readableAborted ? new Rejection('REQUEST_TIMEOUT') : toRejection(error, words)
    const { code } = rejection
    if (isFault(rejection)) {
      const { config, url } = request.routeOptions
      const { operation } = config
      log[code === 'INTERNAL_ERROR' ? 'error' : 'warn'](
        { err: error, requestId: request.id, operation, route: url, code },
        'a request failed',
      )
    }
    return sendRejection(reply, rejection)
  })
  return app
}

/** Any method, and any body: the signature covers the bytes as sent, so they are kept, whatever the media type says. */
function takeAsSent(app: FastifyInstance): void {
  for (const method of methods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: true })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}

/** A name or an address with or without a port (RFC 9110, 7.2). It may be empty. */
const hostPattern = /^(?:\[[\da-f:.]+\]|[\w.~%!$&'()*+,;=-]*)(?::\d*)?$/i

/**
 * What a proxy and we could each understand otherwise; undefined: nothing. The status is the one that HTTP asks for (RFC 9112,
 * 3.2). Node keeps the first of several Host headers, reads any version of one digit, and hands a fragment on with the path.
 */
function faultOfFraming({ raw: { rawHeaders, httpVersion, url = '' } }: FastifyRequest): string | undefined {
  const hosts: string[] = []
  // Each request passes here, so that most names are told by their length.
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts.push(rawHeaders[index + 1] ?? '')
  }
  if (hosts.length > 1) return 'there is more than one Host header'
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'the version is not HTTP/1.1'
  if (hosts.length === 0 && httpVersion === '1.1') return 'there is no Host header'
  if (!hosts.every((host) => hostPattern.test(host))) return 'the Host header names no host'
  return url.includes('#') ? 'the target has a fragment' : undefined
}

/**
 * Refuses a body where none has a meaning. We would not read it, and so not verify its signature, while a proxy might
 * take it for the next request.
 */
function refuseBody(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers
  if (coding === undefined && Number(length) === 0) {
    done()
    return
  }
  // The body is left unread, so the connection cannot be used again.
  reply.header('Connection', 'close')
  done(invalid('body', '', 'a request with this method has no body'))
}

/** All that Node reads, but the one that asks for a tunnel. */
const methods = METHODS.filter((method) => method !== 'CONNECT') as readonly HTTPMethods[]

/** Routes that reply 405 with Allow, for each known path and the methods that it does not have. */
function otherMethods(routes: readonly RouteOptions[], words: ErrorWords): RouteOptions[] {
  const sendRejection = rejecting(words)
  return [...Map.groupBy(routes, ({ url }) => url)].map(([url, entries]) => {
    const allowed = entries.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : method))
    const refuse = (_request: FastifyRequest, reply: FastifyReply) => {
      sendRejection(reply.header('Allow', allowed.join(', ')), new Rejection('METHOD_NOT_ALLOWED'))
    }
    return {
      method: methods.filter((method) => !allowed.includes(method)),
      url,
      // Before a body is read, which might be refused for what it is.
      onRequest: refuse,
      handler: refuse,
    }
  })
}

const rejecting =
  (words: ErrorWords) =>
  (reply: FastifyReply, rejection: Rejection): FastifyReply =>
    sendReply(reply, replyOfRejection(rejection, reply.request.id, words), words)

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The id of the operation that a route serves. */
    operation?: string
  }
  interface FastifyRequest {
    /** The code of the reply's error, once it is known. */
    refusedWith: ErrorCode | undefined
  }
}

const duration = durations(
  'backoffice.request.duration_seconds',
  'Time from an HTTP request to its reply, by its outcome',
)

/** Measures every request by surface, operation, code and environment, and names its span after the route. */
function measureRequests(app: FastifyInstance, { name: surface }: Surface): void {
  app.decorateRequest('refusedWith')
  app.addHook('onRequest', (request, _reply, done) => {
    nameSpan(request)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { refusedWith: code = 'ok', access, routeOptions } = request
    const operation = routeOptions.config.operation ?? 'none'
    const environment = access?.credential.scope.environment ?? 'none'
    duration.record(reply.elapsedTime / 1_000, { surface, operation, code, environment })
    done()
  })
}

function nameSpan(request: FastifyRequest): void {
  const span = trace.getActiveSpan()
  if (span === undefined) return
  const { method, routeOptions } = request
  const { url } = routeOptions
  if (url === undefined) return
  span.updateName(`${method} ${url}`)
  span.setAttribute('http.route', url)
}

/**
 * If a proxy of ours is not trusted, or writes what we cannot read, all operators share its address: permitted addresses
 * refuse everybody, and the bound on failures counts everybody as one. Said once, because clients can send the header too.
 */
function warnOfProxies(
  app: FastifyInstance,
  { isTrusted, log }: { readonly isTrusted: IsTrusted; readonly log: Logger },
): void {
  const said = new Set<string>()
  const sayOnce = (what: object, message: string) => {
    if (!said.has(message)) log.error(what, message)
    said.add(message)
  }
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers['x-forwarded-for'] === undefined) {
      done()
      return
    }
    const peer = request.socket.remoteAddress ?? ''
    if (!isTrusted(peer))
      sayOnce(
        { peer },
        'a request has X-Forwarded-For, but its sender is not in TRUSTED_PROXIES; if that is a proxy of ours, all operators have its address',
      )
    const unread = request.ips?.find((hop) => addressOfHop(hop) === null)
    if (unread !== undefined)
      sayOnce(
        { peer, hop: unread },
        'a hop of X-Forwarded-For is no address, so the caller counts as the proxy behind it',
      )
    done()
  })
}
