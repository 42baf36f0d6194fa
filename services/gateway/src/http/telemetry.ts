import type { Environment, ErrorCode, Operation } from '@backoffice/contracts'
import { durations, meter } from '@backoffice/process'
import { trace } from '@opentelemetry/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The id of the operation that a route serves. */
    operation?: string
  }
  interface FastifyRequest {
    /** The code of the reply's error, once it is known. */
    refusedWith: ErrorCode | undefined
    /** Of the credential, once it is verified. */
    environment: Environment | undefined
  }
}

const duration = durations(
  'backoffice.request.duration_seconds',
  'Time from an HTTP request to its reply, by its outcome',
)
const replays = meter.createCounter('backoffice.idempotency.replays', {
  description: 'Requests that got the stored reply of their Idempotency-Key',
})

export function countReplay(operation: Operation): void {
  replays.add(1, { operation: operation.id })
}

/** Measures every request by operation, code and environment, and names its span after the route. */
export function measureRequests(app: FastifyInstance): void {
  app.decorateRequest('refusedWith').decorateRequest('environment')
  app.addHook('onRequest', (request, _reply, done) => {
    nameSpan(request)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { refusedWith: code = 'ok', environment = 'none' } = request
    const operation = request.routeOptions.config.operation ?? 'none'
    duration.record(reply.elapsedTime / 1_000, { operation, code, environment })
    done()
  })
}

function nameSpan({ method, routeOptions: { url } }: FastifyRequest): void {
  const span = trace.getActiveSpan()
  if (span === undefined || url === undefined) return
  span.updateName(`${method} ${url}`)
  span.setAttribute('http.route', url)
}
