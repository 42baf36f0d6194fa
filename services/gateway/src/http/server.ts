import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { bodyBytesMax, type ErrorCode, errorCatalogue, Rejection } from '@backoffice/contracts'
import { type Logger, newId } from '@backoffice/service-runtime'
import fastify, { type FastifyInstance, type HTTPMethods } from 'fastify'
import type { Certificate } from './certificate.ts'
import { errorBody, jsonContentType, sendRejection, toRejection } from './errors.ts'

/** How long a client may take to send its headers, and its whole request. */
const headersTimeoutMs = 10_000
const requestTimeoutMs = 20_000
/** Longer than the idle time of common load balancers, so that it is they who close an idle connection. */
const keepAliveTimeoutMs = 75_000
const pathParameterLengthMax = 256

/** The HTTP server without its routes: request ids, raw bodies, and one error envelope whatever goes wrong. */
export function createServer(log: Logger, certificate?: Certificate): FastifyInstance {
  const options = { headersTimeout: headersTimeoutMs, requireHostHeader: false }
  const app = fastify({
    logger: false,
    bodyLimit: bodyBytesMax,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    ...(certificate === undefined ? { http: options } : { https: { ...options, ...certificate } }),
    routerOptions: { maxParamLength: pathParameterLengthMax },
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: () => newId('req'),
    frameworkErrors: (error, request, reply) => {
      void sendRejection(reply.header('X-Request-Id', request.id), toRejection(error), request.id)
    },
    clientErrorHandler: refuseBrokenRequest,
  })
  app.removeAllContentTypeParsers()
  // The signature covers the bytes as sent: they are kept as they are, whatever they say they are.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.addHook('onRequest', async (request, reply) => {
    reply.header('X-Request-Id', request.id)
    // An absolute-form target names a host of its own: it is not a path of ours.
    if (!request.raw.url?.startsWith('/')) throw new Rejection('NOT_FOUND')
  })
  app.setNotFoundHandler((request, reply) => sendRejection(reply, new Rejection('NOT_FOUND'), request.id))
  app.setErrorHandler((error, request, reply) => {
    // A client that breaks off is no fault of ours, and nobody reads the answer.
    const rejection = request.raw.readableAborted ? new Rejection('REQUEST_TIMEOUT') : toRejection(error)
    const { status } = errorCatalogue[rejection.code]
    if (status >= 500) {
      const level = rejection.code === 'INTERNAL_ERROR' ? 'error' : 'warn'
      log[level]({ err: error, requestId: request.id, route: request.routeOptions.url, code: rejection.code }, 'failed')
    }
    return sendRejection(reply, rejection, request.id)
  })
  return app
}

const methods: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Answers 405 with Allow on every known path, for the methods that it does not have. */
export function refuseOtherMethods(
  app: FastifyInstance,
  routes: readonly { readonly method: string; readonly url: string }[],
): void {
  const allowed = Map.groupBy(routes, ({ url }) => url)
  for (const [url, entries] of allowed) {
    const allow = entries.map(({ method }) => method)
    app.route({
      method: methods.filter((method) => !allow.includes(method)),
      url,
      handler: (request, reply) =>
        sendRejection(reply.header('Allow', allow.join(', ')), new Rejection('METHOD_NOT_ALLOWED'), request.id),
    })
  }
}

const clientErrorCodes: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'PAYLOAD_TOO_LARGE',
}

/** What Node would answer by itself, with an empty body, to bytes that are no HTTP request. */
function refuseBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const requestId = newId('req')
  const known = clientErrorCodes[error.code ?? '']
  const status = known === undefined ? 400 : errorCatalogue[known].status
  const details = { in: 'headers', issues: [{ path: '', message: 'the bytes received are not an HTTP/1.1 request' }] }
  const body =
    known === undefined ? errorBody('VALIDATION_ERROR', { requestId, details }) : errorBody(known, { requestId })
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `Content-Type: ${jsonContentType}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}
