import { randomBytes } from 'node:crypto'
import { operations, Rejection } from '@backoffice/contracts'
import { RpcClient } from '@backoffice/rpc'
import { IdentityRefused } from '@backoffice/team-access/identity'
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { decodeJwt } from 'jose'
import type { ConsoleContext } from '../context.ts'
import {
  loggedIn,
  logIn,
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
  readonly again?: string
}
type Sent = Readonly<Record<string, unknown>> | undefined

const thumbprintPattern = /^[\w-]{43}$/

/** Signing in and out at the identity provider. The page makes the key of the session, which never leaves the browser. */
export function registerSignIn(app: FastifyInstance, context: ConsoleContext): void {
  const { config, log, provider } = context
  const csrf = { preHandler: app.csrfProtection }
  registerDelegation(app, context)
  app.get('/sign-in', showSignIn(false))
  app.get('/login', showSignIn(true))

  app.post('/login', csrf, async (request, reply) => {
    const { again, returnTo, thumbprint } = request.body as Record<string, unknown>
    if (typeof thumbprint !== 'string' || !thumbprintPattern.test(thumbprint))
      throw Object.assign(new Error('no thumbprint of a key'), { statusCode: 400 })
    const { address, attempt } = await provider.begin({ again: again === 'yes', nonce: thumbprint })
    storeAttempt(request, { ...attempt, returnTo: ownAddress(returnTo) })
    // No redirect: a form may lead to addresses of `form-action` only, and a provider may send people on to others.
    return reply.header('Refresh', `0; url=${address.href}`).page('sign-in', { href: address.href }, { request })
  })

  // For the probe: as far as a login comes without a browser. Nobody has a key for it, so nobody can finish it.
  app.get('/login/probe', async (_request, reply) => {
    const { address } = await provider.begin({ again: false, nonce: randomBytes(32).toString('base64url') })
    return reply.redirect(address.href, 303)
  })

  app.get<{ Querystring: { readonly error?: string } }>('/callback', async (request, reply) => {
    const attempt = takeAttempt(request)
    if (attempt === undefined) return failed(request, reply, { about: 'LOGIN_NOT_BEGUN', status: 400 })
    if (request.query.error === 'access_denied')
      return failed(request, reply, { about: 'LOGIN_CANCELLED', status: 403 })
    try {
      const idToken = await provider.complete(new URL(request.url, config.CONSOLE_URL), attempt)
      await logIn(request, idToken, attempt.returnTo)
      return reply.redirect('/delegation', 303)
    } catch (error) {
      log.warn({ err: error }, 'a login of a person failed')
      return failed(request, reply, faultOf(error))
    }
  })

  app.post('/sign-out', csrf, async (request, reply) => {
    const session = await signedIn(request)
    signOut(request)
    if (session === undefined) return goTo(reply, '/sign-in?why=out')
    if (!(await isEndedEverywhere(session, context))) return goTo(reply, '/sign-in?why=here')
    const end = await provider.endSession().catch(() => undefined)
    return goTo(reply, end?.href ?? '/sign-in?why=out')
  })
}

/** @returns false where the services did not answer, so that a copy of the cookie goes on working */
async function isEndedEverywhere(session: SignedIn, context: ConsoleContext): Promise<boolean> {
  try {
    const person = await personOf(session, context)
    await person.call(operations.gateway.endSession, { session: person.session })
    return true
  } catch (error) {
    if (error instanceof IdentityRefused) return true
    if (error instanceof Rejection && error.code === 'LOGIN_REQUIRED') return true
    context.log.warn({ err: error }, 'a session was not ended at the services')
    return false
  }
}

/** The page signs that this program may read with a key of its own. Then somebody is signed in. */
function registerDelegation(app: FastifyInstance, context: ConsoleContext): void {
  const { config, log } = context
  app.get('/delegation', async (request, reply) => {
    const session = await loggedIn(request)
    if (session === undefined) return reply.redirect('/', 303)
    const { nonce: thumbprint } = decodeJwt(session.idToken)
    const seconds = config.TEAM_SESSION_HOURS * 3_600
    return reply.page('sign-in', { thumbprint, delegate: session.delegate.thumbprint, seconds }, { request })
  })

  app.post('/delegation', { preHandler: app.csrfProtection }, async (request, reply) => {
    const session = await loggedIn(request)
    if (session === undefined) return failed(request, reply, { about: 'LOGIN_NOT_BEGUN', status: 400 })
    const delegation = String((request.body as Sent)?.delegation)
    try {
      const person = await personOf({ ...session, delegation }, context)
      signIn(request, delegation)
      log.info({ person: person.name }, 'a person of the team signed in')
      return reply.redirect(session.returnTo, 303)
    } catch (error) {
      log.warn({ err: error }, 'a login of a person failed')
      return failed(request, reply, faultOf(error))
    }
  })
}

const showSignIn = (atOnce: boolean) => (request: FastifyRequest, reply: FastifyReply) => {
  const { why, returnTo, again } = request.query as SignInQuery
  return reply.page('sign-in', { atOnce, why, again, returnTo: ownAddress(returnTo) }, { request })
}

const failed = (request: FastifyRequest, reply: FastifyReply, { about, status }: Fault): FastifyReply =>
  reply.code(status).page('sign-in', { about }, { request })

type LoginFault =
  | 'LOGIN_NOT_BEGUN'
  | 'LOGIN_CANCELLED'
  | 'LOGIN_TOKEN_TOO_LONG'
  | 'LOGIN_NO_NAME'
  | 'LOGIN_REFUSED'
  | 'PROVIDER_AWAY'
  | 'LOGIN_FAILED'

interface Fault {
  readonly about: LoginFault
  readonly status: number
}

function faultOf(error: unknown): Fault {
  if (error instanceof TokenTooLong) return { about: 'LOGIN_TOKEN_TOO_LONG', status: 403 }
  if (error instanceof ProviderUnavailable) return { about: 'PROVIDER_AWAY', status: 503 }
  if (error instanceof IdentityRefused)
    return { about: error.reason === 'name' ? 'LOGIN_NO_NAME' : 'LOGIN_REFUSED', status: 403 }
  return { about: 'LOGIN_FAILED', status: 502 }
}

/**
 * The identity provider says that somebody was logged out (OpenID Connect Back-Channel Logout 1.0). Its token is passed on as
 * it is: the gateway verifies who signed it, and believes nothing else.
 */
export function registerBackchannel(app: FastifyInstance, { clock, log, nats, verifier }: ConsoleContext): void {
  app.register(async (scope) => {
    await scope.register(formbody)
    scope.post('/backchannel-logout', async (request, reply) => {
      const { logout_token: idToken } = (request.body ?? {}) as { readonly logout_token?: unknown }
      if (typeof idToken !== 'string' || !/^[\w.-]+$/.test(idToken))
        return reply.code(400).send({ error: 'invalid_request' })
      try {
        // What the gateway would not take does not reach the broker.
        await verifier.verifyLogout(idToken, clock.now())
        const rpc = new RpcClient(nats, { sign: async () => ({ idToken, proof: '' }) })
        await rpc.call(operations.gateway.endProviderSession, { input: {} })
        return reply.code(200).send()
      } catch (error) {
        log.warn({ err: error }, 'a logout of the provider was not carried out')
        const isRefused =
          error instanceof IdentityRefused || (error instanceof Rejection && error.code === 'LOGIN_REQUIRED')
        return reply
          .code(isRefused ? 400 : 503)
          .send({ error: isRefused ? 'invalid_request' : 'temporarily_unavailable' })
      }
    })
  })
}
