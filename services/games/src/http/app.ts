import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { isPassingFault } from '@backoffice/database'
import { durations, holderOf, httpFrame, type IsTrusted, requestLimit } from '@backoffice/process'
import rateLimit from '@fastify/rate-limit'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Thumbnails } from '../thumbnails.ts'
import { type Play, registerPlay } from './play.ts'

interface GamesContext extends Play {
  readonly thumbnails: Thumbnails
}

interface Limits {
  readonly requestsPerMinute: number
  readonly connectionsPerAddress: number
  readonly trustedProxies: IsTrusted
}

/** The page may load and call nothing but this server. An operator may show it in an iframe. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'"

function asset(name: string, contentType: string) {
  const body = readFileSync(new URL(`../../assets/${name}`, import.meta.url))
  return { contentType, body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` }
}

const script = (name: string) => asset(name, 'text/javascript; charset=utf-8')

const page = asset('demo.html', 'text/html; charset=utf-8')

const assets = {
  'demo.css': asset('demo.css', 'text/css; charset=utf-8'),
  'demo.js': script('demo.js'),
  'words.js': script('words.js'),
} as const

const bodyBytesMax = 1024

/** How long a browser may keep a thumbnail. */
const maxAgeSeconds = 3_600

const requestTimeoutMs = 10_000

const duration = durations('backoffice.games.request.duration_seconds', 'Time from a request of a browser to its reply')

/** The public server: everything that it serves is served without a signature. */
export async function createApp(context: GamesContext, limits: Limits): Promise<FastifyInstance> {
  const { log } = context
  const app = fastify({
    ...httpFrame({ bodyBytesMax, requestTimeoutMs }),
    trustProxy: limits.trustedProxies,
  })
  limitConnections(app.server, limits)
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Content-Security-Policy': contentSecurityPolicy,
    })
  })
  app.addHook('onResponse', async ({ routeOptions: { url = 'none' } }, reply) => {
    duration.record(reply.elapsedTime / 1_000, { route: url, status: String(reply.statusCode) })
  })
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? (isPassingFault(error) ? 503 : 500)
    if (status === 503) {
      log.warn({ err: error }, 'PostgreSQL is unavailable or busy')
      return reply.code(503).header('Retry-After', '1').send({ error: 'unavailable' })
    }
    if (status >= 500) log.error({ err: error }, 'the demonstration game failed')
    const names: Readonly<Record<number, string>> = { 429: 'limited' }
    return reply
      .code(status === 400 ? 422 : status)
      .send({ error: status >= 500 ? 'internal' : (names[status] ?? 'invalid') })
  })
  await app.register(rateLimit, requestLimit(limits.requestsPerMinute))
  app.setNotFoundHandler({ preHandler: app.rateLimit() }, (_request, reply) =>
    reply.code(404).send({ error: 'not found' }),
  )
  registerPages(app, context)
  registerPlay(app, context)
  return app
}

function registerPages(app: FastifyInstance, { thumbnails }: GamesContext): void {
  app.get<{ Params: { file: string } }>('/thumbnails/:file', (request, reply) => {
    if (!thumbnails.areDrawn) return reply.code(503).header('Retry-After', '1').send({ error: 'unavailable' })
    const drawn = thumbnails.of(request.params.file.replace(/\.svg$/, ''))
    if (drawn === undefined) return reply.code(404).send({ error: 'not found' })
    return reply
      .headers({ 'Content-Type': 'image/svg+xml', 'Cache-Control': `public, max-age=${maxAgeSeconds}` })
      .send(drawn)
  })
  // The page is the same for every game. The token in the fragment says which game is played.
  app.get('/demo/:gameId', serve(page))
  for (const [name, file] of Object.entries(assets)) app.get(`/assets/${name}`, serve(file))
}

/**
 * A browser asks each time whether its copy is still the right one. The page and its scripts belong together: after an
 * upgrade none may come from the release before.
 */
const serve =
  ({ contentType, body, etag }: ReturnType<typeof asset>) =>
  (request: FastifyRequest, reply: FastifyReply) => {
    reply.headers({ ETag: etag, 'Cache-Control': 'no-cache' })
    // A proxy may have made the tag a weak one, or sent several.
    if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send()
    return reply.header('Content-Type', contentType).send(body)
  }

/** Closes what an address opens beyond its connections. A request that never comes holds nothing else up. */
function limitConnections(server: Server, { connectionsPerAddress, trustedProxies }: Limits): void {
  const open = new Map<string, number>()
  server.on('connection', (socket) => {
    const peer = socket.remoteAddress ?? ''
    if (trustedProxies(peer)) return
    const holder = holderOf(peer)
    const count = (open.get(holder) ?? 0) + 1
    if (count > connectionsPerAddress) {
      socket.destroy()
      return
    }
    open.set(holder, count)
    socket.once('close', () => {
      const left = (open.get(holder) ?? 1) - 1
      if (left === 0) open.delete(holder)
      else open.set(holder, left)
    })
  })
}
