import { operations, Rejection } from '@backoffice/contracts'
import { IdentityRefused } from '@backoffice/team-identity'
import type { FastifyInstance } from 'fastify'
import type { ConsoleContext } from '../context.ts'
import {
  type SignedIn,
  signedIn,
  signIn,
  signOut,
  storeAttempt,
  TokenTooLong,
  takeAttempt,
} from '../identity/cookies.ts'
import { personOf } from '../identity/person.ts'
import { ProviderUnavailable } from '../identity/provider.ts'
import { goTo, ownAddress } from '../pieces/cells.ts'

interface SignInQuery {
  readonly why?: string
  readonly returnTo?: string
}

/** Signing in and out at the identity provider. */
export function registerSignIn(app: FastifyInstance, context: ConsoleContext): void {
  const { clock, config, log, nats, provider, verifier } = context
  app.get<{ Querystring: SignInQuery }>('/sign-in', (request, reply) => {
    const { why, returnTo } = request.query
    return reply.page('sign-in', { why, returnTo: ownAddress(returnTo) }, { request })
  })

  app.get<{ Querystring: { readonly returnTo?: string; readonly again?: string } }>(
    '/login',
    async (request, reply) => {
      const { returnTo, again } = request.query
      const { address, attempt, key } = await provider.begin({ again: again === 'yes' })
      await storeAttempt(request, { ...attempt, key, returnTo: ownAddress(returnTo) })
      return reply.redirect(address.href, 303)
    },
  )

  app.get<{ Querystring: { readonly error?: string } }>('/callback', async (request, reply) => {
    const attempt = await takeAttempt(request)
    const failed = (about: LoginFault, status: number) => reply.code(status).page('login-fault', { about }, { request })
    if (attempt === undefined) return failed('LOGIN_NOT_BEGUN', 400)
    if (request.query.error === 'access_denied') return failed('LOGIN_CANCELLED', 403)
    try {
      const { key, jwk } = attempt
      const idToken = await provider.complete(new URL(request.url, config.CONSOLE_URL), attempt, key)
      const person = await personOf(
        { idToken, key },
        { nats, verifier, deployment: config.TEAM_DEPLOYMENT, now: clock.now(), isOneMachine: config.DEVELOPMENT },
      )
      signIn(request, idToken, jwk)
      log.info({ person: person.name }, 'signed in')
      return reply.redirect(attempt.returnTo, 303)
    } catch (error) {
      log.warn({ err: error }, 'a login failed')
      const { about, status } = faultOf(error)
      return failed(about, status)
    }
  })

  app.post('/sign-out', { preHandler: app.csrfProtection }, async (request, reply) => {
    const session = await signedIn(request)
    signOut(request)
    if (session === undefined) return goTo(reply, '/sign-in?why=out')
    if (!(await isEndedEverywhere(session, context))) return goTo(reply, '/sign-in?why=here')
    const end = await provider.endSession().catch(() => undefined)
    return goTo(reply, end?.href ?? '/sign-in?why=out')
  })
}

/** @returns false where the services did not answer, so that a copy of the cookie goes on working */
async function isEndedEverywhere(
  session: SignedIn,
  { clock, config, log, nats, verifier }: ConsoleContext,
): Promise<boolean> {
  const { DEVELOPMENT: isOneMachine, TEAM_DEPLOYMENT: deployment } = config
  try {
    const person = await personOf(session, { nats, verifier, deployment, now: clock.now(), isOneMachine })
    await person.call(operations.gateway.endSession, { session: person.session })
    return true
  } catch (error) {
    if (error instanceof IdentityRefused) return true
    if (error instanceof Rejection && error.code === 'LOGIN_REQUIRED') return true
    log.warn({ err: error }, 'a session was not ended at the services')
    return false
  }
}

type LoginFault =
  | 'LOGIN_NOT_BEGUN'
  | 'LOGIN_CANCELLED'
  | 'LOGIN_TOKEN_TOO_LONG'
  | 'LOGIN_NO_NAME'
  | 'LOGIN_REFUSED'
  | 'PROVIDER_AWAY'
  | 'LOGIN_FAILED'

function faultOf(error: unknown): { readonly about: LoginFault; readonly status: number } {
  if (error instanceof TokenTooLong) return { about: 'LOGIN_TOKEN_TOO_LONG', status: 403 }
  if (error instanceof ProviderUnavailable) return { about: 'PROVIDER_AWAY', status: 503 }
  if (error instanceof IdentityRefused)
    return { about: error.reason === 'name' ? 'LOGIN_NO_NAME' : 'LOGIN_REFUSED', status: 403 }
  return { about: 'LOGIN_FAILED', status: 502 }
}
