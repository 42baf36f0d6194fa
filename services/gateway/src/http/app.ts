import { METHODS, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { bodyBytesMax, type ErrorCode, errorCatalogue, invalid, Rejection } from '@backoffice/contracts'
import { httpFrame, type IsTrusted, type Logger, newId } from '@backoffice/process'
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type HTTPMethods,
  type RouteOptions,
} from 'fastify'
import { warnOfProxies } from './authenticate.ts'
import { documentRoutes } from './documents.ts'
import type { RefusedRequests } from './refused-requests.ts'
import { errorBody, helpLinks, isFault, jsonContentType, measureRequests, sendRejection, toRejection } from './reply.ts'
import { operationRoutes, type RouteContext } from './routes.ts'

export interface AppOptions extends RouteContext {
  readonly log: Logger
  readonly tls: boolean
  /** Whether an address is a proxy of ours. */
  readonly isTrusted: IsTrusted
  /**
   * With the /api/v1 prefix, as the documents show it. Called when a document is read, since the port is not known
   * before.
   */
  readonly baseUrl: () => string
  readonly refused: Pick<RefusedRequests, 'note' | 'unread'>
}

/** The public HTTP API, without a listener: see `HttpListener`. */
export function buildApp({ log, tls, isTrusted, baseUrl, refused, ...context }: AppOptions): FastifyInstance {
  const app = createServer({ log, tls, isTrusted, refused })
  warnOfProxies(app, { isTrusted, log })
  measureRequests(app)
  const { securityLog, homologation } = context.authentication
  app.decorateRequest('access').decorateRequest('sender').decorateRequest('verified', false)
  // Not onResponse, which a client that breaks off prevents.
  app.addHook('onSend', (request, reply, payload, done) => {
    securityLog.answered(request, reply)
    homologation.answered(request, reply)
    const { refusedWith: code } = request
    if (code !== undefined) refused.note(request, reply, { code, body: payload })
    done()
  })
  const routes = [...operationRoutes(context), ...documentRoutes(baseUrl)]
  // HEAD answers where GET does, and is signed as HEAD.
  for (const route of routes)
    app.route(route.method === 'GET' ? { ...route, onRequest: refuseBody, exposeHeadRoute: true } : route)
  for (const route of otherMethods(routes)) app.route(route)
  return app
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
  readonly refused?: Pick<RefusedRequests, 'unread'>
}

/**
 * On every response. Replies hold balances, persons and links to games, so nobody keeps them, and no browser guesses
 * what they are. Documents replace Cache-Control.
 */
const safetyHeaders = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const

/** The HTTP server without routes: request ids, raw bodies, and one error envelope for everything that goes wrong. */
export function createServer({
  log,
  tls = false,
  isTrusted = () => false,
  headersTimeoutMs = headersTimeoutMsDefault,
  requestTimeoutMs = requestTimeoutMsDefault,
  refused,
}: ServerOptions): FastifyInstance {
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
      else refuseBrokenRequest(error, socket, refused)
    },
  })
  // Node by itself would refuse an expectation that it does not know, without the envelope. It may as well be ignored.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', (_request, socket: Socket) => refuseOutside(socket, 'NOT_FOUND', refused))
  for (const method of methods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: true })
  app.removeAllContentTypeParsers()
  // The signature covers the bytes as sent, so they are kept as they are, whatever the media type says.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.addHook('onRequest', (request, reply, done) => {
    underWay.set(request.raw.socket, reply)
    reply.header('X-Request-Id', request.id)
    reply.headers(safetyHeaders)
    const fault = faultOfFraming(request)
    if (fault !== undefined) {
      sendBadRequest(reply, fault)
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
    const rejection = request.raw.readableAborted ? new Rejection('REQUEST_TIMEOUT') : toRejection(error)
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
function otherMethods(routes: readonly RouteOptions[]): RouteOptions[] {
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

const clientErrorCodes: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'PAYLOAD_TOO_LARGE',
}

/** The envelope of a 400: what is wrong is the HTTP of the request, and not yet anything that it says. */
const badRequestBody = (message: string, requestId: string): string =>
  errorBody('VALIDATION_ERROR', { requestId, details: { in: 'headers', issues: [{ path: '', message }] } })

function sendBadRequest(reply: FastifyReply, message: string): void {
  reply.request.refusedWith = 'VALIDATION_ERROR'
  reply.code(400).headers({ Connection: 'close', 'Content-Type': jsonContentType, Link: helpLinks.VALIDATION_ERROR })
  void reply.send(badRequestBody(message, reply.request.id))
}

/** Replies to bytes that are no HTTP request. Node by itself would reply with an empty body. */
function refuseBrokenRequest(
  error: Error & { code?: string },
  socket: Socket,
  refused?: Pick<RefusedRequests, 'unread'>,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  refuseOutside(socket, clientErrorCodes[error.code ?? ''], refused)
}

/** Replies where there is no request that the framework knows of, and closes the connection. */
function refuseOutside(
  socket: Socket,
  known: ErrorCode | undefined,
  refused: Pick<RefusedRequests, 'unread'> | undefined,
): void {
  const requestId = newId('req')
  const status = known === undefined ? 400 : errorCatalogue[known].status
  refused?.unread(requestId, status, known ?? 'VALIDATION_ERROR', socket.remoteAddress ?? '')
  const body =
    known === undefined
      ? badRequestBody('the bytes received are not an HTTP/1.1 request', requestId)
      : errorBody(known, { requestId })
  socket.write(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `Content-Type: ${jsonContentType}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      `Link: ${helpLinks[known ?? 'VALIDATION_ERROR']}`,
      ...Object.entries(safetyHeaders).map(([name, value]) => `${name}: ${value}`),
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  socket.destroySoon()
}
