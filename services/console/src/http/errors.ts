import { Rejection } from '@backoffice/contracts'
import type { Logger } from '@backoffice/process'
import { IdentityRefused, KeysUnavailable } from '@backoffice/team-identity'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { signOut } from '../identity/cookies.ts'
import { ProviderUnavailable } from '../identity/provider.ts'
import { goTo } from '../pieces/cells.ts'

/** The identity provider is away for now. */
export const isPassing = (error: unknown): boolean =>
  error instanceof KeysUnavailable || error instanceof ProviderUnavailable

/** Pages that say what was wrong, and what to do. */
export function registerErrors(app: FastifyInstance, log: Logger): void {
  app.setNotFoundHandler((request, reply) => reply.code(404).page('error', { about: 'NOT_FOUND' }, { request }))
  app.setErrorHandler(async (error: Error & { statusCode?: number }, request, reply) => {
    if (error instanceof IdentityRefused) {
      signOut(request)
      return goTo(reply, `/sign-in?why=${error.reason === 'session over' ? 'over' : 'refused'}`)
    }
    if (error instanceof Rejection) return refused(error, request, reply)
    if (isPassing(error)) {
      log.warn({ err: error }, 'the identity provider cannot be reached')
      return reply.code(503).header('Retry-After', '5').page('error', { about: 'PROVIDER_AWAY' }, { request })
    }
    const status = error.statusCode ?? 500
    if (status >= 500) log.error({ err: error, url: request.routeOptions.url }, 'a page could not be shown')
    const about =
      { 403: 'FORGED', 404: 'NOT_FOUND', 429: 'RATE_LIMITED' }[status] ?? (status < 500 ? 'INVALID' : 'FAILED')
    return reply.code(status).page('error', { about }, { request })
  })
}

/** What a service refused, where the page itself could not be shown. */
function refused({ code, details }: Rejection, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const here = encodeURIComponent(request.method === 'GET' ? request.url : '/')
  if (code === 'LOGIN_REQUIRED') {
    signOut(request)
    const why = { locked: 'locked', 'session ended': 'ended' }[String(details?.reason)] ?? 'refused'
    return goTo(reply, `/sign-in?why=${why}&returnTo=${here}`)
  }
  if (code === 'FRESH_LOGIN_REQUIRED') return goTo(reply, `/login?again=yes&returnTo=${here}`)
  const status = { SERVICE_UNAVAILABLE: 503, ROLE_REQUIRED: 403, INTERNAL_ERROR: 500 }[code as string]
  return reply
    .code(status ?? (code.endsWith('NOT_FOUND') ? 404 : 422))
    .page('error', { about: code, details }, { request })
}
