import { Rejection } from '@backoffice/contracts'
import type { Logger } from '@backoffice/process'
import { IdentityRefused, KeysUnavailable } from '@backoffice/team-access/identity'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ConsoleContext } from '../context.ts'
import { signOut } from '../identity/cookies.ts'
import { ServiceStarts } from '../identity/person.ts'
import { ProviderUnavailable } from '../identity/provider.ts'
import { displayOf, goTo, pageAddress } from '../pieces/cells.ts'
import { detailLines, isInPlace, sayInPlace } from '../pieces/refusals.ts'

/** The identity provider is away for now. */
export const isPassing = (error: unknown): boolean =>
  error instanceof KeysUnavailable || error instanceof ProviderUnavailable

interface Fault {
  readonly status: number
  /** Names it in the catalogue of words. */
  readonly about: string
  readonly lines?: readonly string[]
}

/** Says what was wrong, and what to do: in the form that was sent, or on a page. */
export function registerErrors(app: FastifyInstance, log: Logger, context: ConsoleContext): void {
  app.setNotFoundHandler((request, reply) => showFault(request, reply, { status: 404, about: 'NOT_FOUND' }))
  app.setErrorHandler(async (error: Error & { statusCode?: number }, request, reply) => {
    if (error instanceof IdentityRefused) {
      signOut(request)
      const why = error.reason === 'session over' ? 'over' : 'refused'
      return goTo(reply, `/sign-in?why=${why}${returnTo(request)}`)
    }
    // Where nobody else knows it, the page is loaded again until it is there.
    if (error instanceof ServiceStarts && request.method === 'GET')
      return showFault(request, reply.header('Refresh', '2'), { status: 503, about: 'SERVICE_STARTS' })
    if (error instanceof Rejection) return refused(error, request, reply, context)
    if (isPassing(error)) {
      log.warn({ err: error }, 'the identity provider cannot be reached')
      return showFault(request, reply.header('Retry-After', '5'), { status: 503, about: 'PROVIDER_AWAY' })
    }
    const status = error.statusCode ?? 500
    if (status >= 500) log.error({ err: error, url: request.routeOptions.url }, 'a page could not be shown')
    const about =
      { 403: 'FORGED', 404: 'NOT_FOUND', 429: 'RATE_LIMITED' }[status] ?? (status < 500 ? 'INVALID' : 'FAILED')
    return showFault(request, reply, { status, about })
  })
}

function showFault(request: FastifyRequest, reply: FastifyReply, { status, about, lines = [] }: Fault): FastifyReply {
  // Of a form that was sent before, nobody knows it either.
  const unknown = isInPlace(request) && (status >= 500 || status === 429)
  const refusal = { code: about, unknown, lines }
  reply.code(status)
  if (isInPlace(request)) return sayInPlace(request, reply, refusal, operationIdOf(request))
  const environment = request.url.startsWith('/sandbox') ? 'sandbox' : 'production'
  const again = request.method === 'GET' && [429, 500, 503].includes(status) ? request.url : undefined
  return reply.page('error', { environment, refusal, kind: kindOf(about), again }, { request })
}

const operationIdOf = ({ body }: FastifyRequest): string | undefined => {
  const id = (body as { readonly operationId?: unknown } | undefined)?.operationId
  return typeof id === 'string' ? id : undefined
}

/** What the title of the page says. */
function kindOf(about: string): string {
  if (about.endsWith('NOT_FOUND')) return 'title.NOT_FOUND'
  return ['ROLE_REQUIRED', 'FORGED'].includes(about) ? `title.${about}` : 'title.FAILED'
}

/** What a service refused, where the page itself could not be shown. */
function refused(
  { code, details }: Rejection,
  request: FastifyRequest,
  reply: FastifyReply,
  context: ConsoleContext,
): FastifyReply {
  if (code === 'LOGIN_REQUIRED') {
    signOut(request)
    const why = { locked: 'locked', 'session ended': 'ended' }[String(details?.reason)] ?? 'refused'
    return goTo(reply, `/sign-in?why=${why}${returnTo(request)}`)
  }
  if (code === 'FRESH_LOGIN_REQUIRED') return goTo(reply, `/login?again=yes${returnTo(request)}`)
  const known = { SERVICE_UNAVAILABLE: 503, ROLE_REQUIRED: 403, INTERNAL_ERROR: 500 }[code as string]
  const status = known ?? (code.endsWith('NOT_FOUND') ? 404 : 422)
  return showFault(request, reply, {
    status,
    about: code,
    lines: detailLines(displayOf(request, context), { details }),
  })
}

const returnTo = (request: FastifyRequest): string => `&returnTo=${encodeURIComponent(pageAddress(request))}`
