import type { ErrorCode, Operation } from '@backoffice/contracts'
import { durations, meter } from '@backoffice/service-runtime'
import { trace } from '@opentelemetry/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The id of the operation that a route serves. */
    operation?: string
  }
}

const duration = durations(
  'backoffice.request.duration_seconds',
  'Time from an HTTP request to its reply, by its outcome',
)
const replays = meter.createCounter('backoffice.idempotency.replays', {
  description: 'Requests that got the stored reply of their Idempotency-Key',
})

interface Labels {
  code?: ErrorCode
  environment?: string
}
const labels = new WeakMap<FastifyRequest, Labels>()

/** Adds labels to the measurement of a request, which is taken when its reply is sent. */
export function labelRequest(request: FastifyRequest, known: Labels): void {
  labels.set(request, { ...labels.get(request), ...known })
}

/** The code that a request is refused with; undefined when it is not refused. */
export const codeOf = (request: FastifyRequest): ErrorCode | undefined => labels.get(request)?.code

export function countReplay(operation: Operation): void {
  replays.add(1, { operation: operation.id })
}

/** Measures every request by operation, code and environment, and names its span after the route. */
export function measureRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    nameSpan(request)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { code = 'ok', environment = 'none' } = labels.get(request) ?? {}
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
