import type { IsTrusted, Logger } from '@backoffice/process'
import type { FastifyInstance } from 'fastify'
import { warnOfProxies } from './caller-address.ts'
import { documentRoutes } from './documents.ts'
import { operationRoutes, type RouteContext } from './routes.ts'
import { createServer, otherMethods, refuseBody } from './server.ts'
import { measureRequests } from './telemetry.ts'

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
}

/** The public HTTP API, without a listener: see `HttpListener`. */
export function buildApp({ log, tls, isTrusted, baseUrl, ...context }: AppOptions): FastifyInstance {
  const app = createServer({ log, tls, isTrusted })
  warnOfProxies(app, { isTrusted, log })
  measureRequests(app)
  const { securityLog } = context.authentication
  app.decorateRequest('access')
  // Not onResponse, which a client that breaks off prevents.
  app.addHook('onSend', (request, reply, _payload, done) => {
    securityLog.answered(request, reply)
    done()
  })
  const routes = [...operationRoutes(context), ...documentRoutes(baseUrl)]
  for (const route of routes) app.route(route.method === 'GET' ? { ...route, onRequest: refuseBody } : route)
  for (const route of otherMethods(routes)) app.route(route)
  return app
}
