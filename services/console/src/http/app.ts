import { readFileSync } from 'node:fs'
import { certificateFiles, durations, httpFrame, requestLimit, trustedProxies } from '@backoffice/process'
import csrfProtection from '@fastify/csrf-protection'
import formbody from '@fastify/formbody'
import rateLimit from '@fastify/rate-limit'
import fastify, { type FastifyInstance } from 'fastify'
import type { ConsoleContext } from '../context.ts'
import { registerCookies } from '../identity/cookies.ts'
import { registerPages } from '../pages/register.ts'
import { registerPreferences } from '../pieces/cells.ts'
import type { ConsoleSettings } from '../settings.ts'
import { registerErrors } from './errors.ts'
import { registerRelay } from './relay.ts'
import { registerBackchannel, registerSignIn } from './sign-in.ts'
import { registerAssets, registerViews } from './views.ts'

/** As of the relay: what a person signs is there as they typed it, too. */
const bodyBytesMax = 64 * 1024

/** ID tokens are long. The services take 8 KiB of one. */
const headersBytesMax = 24 * 1024

const requestTimeoutMs = 15_000

const duration = durations('backoffice.console.request.duration_seconds', "Time from the team's request to its reply")

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

/** The whole HTTP side, without listening. */
export async function createApp(context: ConsoleContext): Promise<FastifyInstance> {
  const { config, log } = context
  const app = fastify({
    ...httpFrame({ tls: certificateFiles(config) !== undefined, bodyBytesMax, headersBytesMax, requestTimeoutMs }),
    trustProxy: trustedProxies(config.TRUSTED_PROXIES),
  })
  protect(app, config)
  app.addHook('onResponse', async ({ routeOptions: { url = 'none' } }, reply) => {
    duration.record(reply.elapsedTime / 1_000, { route: url, status: String(reply.statusCode) })
  })
  await app.register(rateLimit, requestLimit(config.CONSOLE_REQUESTS_PER_MINUTE))
  registerAssets(app)
  registerRelay(app, { ...context, version })
  registerBackchannel(app, context)
  // Only what is registered in here reads cookies.
  await app.register(async (pages) => {
    await registerCookies(pages, config)
    await pages.register(csrfProtection, { sessionPlugin: '@fastify/secure-session', getToken: csrfTokenOf })
    await pages.register(formbody)
    await registerViews(pages, context)
    registerErrors(pages, log, context)
    registerPreferences(pages, context)
    registerSignIn(pages, context)
    registerPages(pages, context)
  })
  return app
}

/** From the form alone. */
const csrfTokenOf = ({ body }: { readonly body?: unknown }): string | undefined => {
  const token = (body as { readonly _csrf?: unknown } | undefined)?._csrf
  return typeof token === 'string' ? token : undefined
}

/** What a browser may do with what it gets here. Pages hold personal data, so nothing is kept. */
function protect(app: FastifyInstance, { CONSOLE_URL, DEVELOPMENT, TEAM_ISSUER }: ConsoleSettings): void {
  // Signing out is a form, and its reply sends the browser on to the provider.
  const issuer = new URL(TEAM_ISSUER).origin
  const contentSecurityPolicy = [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    `form-action 'self' ${issuer}`,
  ].join('; ')
  const headers = {
    'Content-Security-Policy': contentSecurityPolicy,
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    // With no-referrer, a browser would send forms with "Origin: null".
    'Referrer-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
    'Cache-Control': 'no-store',
    ...(DEVELOPMENT ? {} : { 'Strict-Transport-Security': 'max-age=31536000' }),
  }
  const origin = new URL(CONSOLE_URL).origin
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(headers)
    // A form of another site. The CSRF token stops it too, but not the first request of a login.
    const { 'sec-fetch-site': site, origin: from } = request.headers
    const isForeign = (from !== undefined && from !== origin) || site === 'cross-site' || site === 'same-site'
    if (request.method !== 'GET' && request.method !== 'HEAD' && isForeign)
      throw Object.assign(new Error('from another site'), { statusCode: 403 })
  })
}
