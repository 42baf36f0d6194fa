import { MIMEType } from 'node:util'
import { Rejection } from '@backoffice/contracts'
import type { FastifyRequest } from 'fastify'
import { header, rawBody } from './authenticate.ts'

/** Parameters say nothing about JSON (RFC 8259, 11), but for one that names other bytes. */
function isJson(contentType: string): boolean {
  try {
    const { essence, params } = new MIMEType(contentType)
    return essence === 'application/json' && /^utf-?8$/i.test(params.get('charset') ?? 'utf-8')
  } catch {
    return false
  }
}

/**
 * @throws {Rejection} UNSUPPORTED_MEDIA_TYPE when there is a body whose media type is not JSON, or whose bytes mean others:
 *   we would take what is compressed for what was meant
 */
export function requireJson(request: FastifyRequest): void {
  if (rawBody(request).length === 0) return
  const [encoding = 'identity', coding = 'chunked'] = ['content-encoding', 'transfer-encoding'].map(
    (name) => header(request, name)?.trim().toLowerCase() || undefined,
  )
  const isPlain = encoding === 'identity' && coding === 'chunked'
  if (!isPlain || !isJson(header(request, 'content-type') ?? '')) throw new Rejection('UNSUPPORTED_MEDIA_TYPE')
}
