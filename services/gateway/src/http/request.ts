import type { FastifyRequest } from 'fastify'

/**
 * A header as one string. Node joins the values of a repeated header, and the result matches nothing that we accept.
 */
export function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

const noBytes = Buffer.alloc(0)

/** The bytes as sent; none for a request without a body. */
export function rawBody(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : noBytes
}
