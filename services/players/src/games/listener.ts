import { createHash, randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { fromMinorUnits, Rejection } from '@backoffice/contracts'
import type { Background, ServiceContext } from '@backoffice/service-runtime'
import { Type } from '@sinclair/typebox'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { payout, stakes, stopsPerReel, symbolAt } from '../domain/slot.ts'
import { bookSpin, type DemoSession, findDemoSession } from '../storage/game-sessions.ts'
import { findGame } from '../storage/games.ts'
import { shapes, themeOf } from './themes.ts'
import { thumbnail } from './thumbnail.ts'

/** The page may load and call nothing but this listener. An operator may show it in an iframe. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'"

const asset = (name: string) => readFileSync(new URL(`../../assets/${name}`, import.meta.url))
const assets = {
  'demo.css': { contentType: 'text/css; charset=utf-8', body: asset('demo.css') },
  'demo.js': { contentType: 'text/javascript; charset=utf-8', body: asset('demo.js') },
} as const
const page = asset('demo.html')
const bodyBytesMax = 1024
const maxAgeSeconds = 3_600

type GamesContext = Pick<ServiceContext, 'db' | 'clock' | 'log'>

interface GamesListenerOptions extends GamesContext {
  readonly host: string
  readonly port: number
  /** The address at which players' browsers reach it; in development the listener's own. */
  readonly baseUrl: string | undefined
}

/** The public listener of thumbnails and the demonstration game. */
export class GamesListener implements Background {
  readonly #options: GamesListenerOptions
  readonly #app: FastifyInstance
  #url: string | undefined

  constructor(options: GamesListenerOptions) {
    this.#options = options
    this.#url = options.baseUrl
    this.#app = createApp(options)
  }

  /**
   * Where players' browsers reach it, without a slash at the end.
   * @throws {Rejection} SERVICE_UNAVAILABLE in development, until its port is known
   */
  get url(): string {
    if (this.#url === undefined) throw new Rejection('SERVICE_UNAVAILABLE')
    return this.#url
  }

  async start(): Promise<void> {
    const { host, port, log } = this.#options
    await this.#app.listen({ host, port })
    this.#url ??= `http://127.0.0.1:${(this.#app.server.address() as AddressInfo).port}`
    log.info({ url: this.#url }, 'serving games')
  }

  async stop(): Promise<void> {
    await this.#app.close()
  }
}

function createApp(context: GamesContext): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: bodyBytesMax,
    requestTimeout: 10_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // Nothing is converted: whatever does not fit the schema is refused.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
  })
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Content-Security-Policy': contentSecurityPolicy,
    })
  })
  registerPages(app, context)
  registerPlay(app, context)
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500
    if (status >= 500) context.log.error({ err: error }, 'the demonstration game failed')
    return reply.code(status === 400 ? 422 : status).send({ error: status >= 500 ? 'internal' : 'invalid' })
  })
  return app
}

function registerPages(app: FastifyInstance, { db }: GamesContext): void {
  app.get<{ Params: { file: string } }>('/thumbnails/:file', async (request, reply) => {
    const gameId = request.params.file.replace(/\.svg$/, '')
    const game = await findGame(db.reader, gameId)
    if (game === undefined) return reply.code(404).send({ error: 'not found' })
    return reply
      .headers({ 'Content-Type': 'image/svg+xml', 'Cache-Control': `public, max-age=${maxAgeSeconds}` })
      .send(thumbnail(game))
  })
  // The page is the same for every game. The token in the fragment says which game is played.
  app.get('/demo/:gameId', (_request, reply) => reply.header('Content-Type', 'text/html; charset=utf-8').send(page))
  for (const [name, { contentType, body }] of Object.entries(assets)) {
    app.get(`/assets/${name}`, (_request, reply) =>
      reply.headers({ 'Content-Type': contentType, 'Cache-Control': `public, max-age=${maxAgeSeconds}` }).send(body),
    )
  }
}

const SpinRequest = Type.Object({ stake: Type.Integer() }, { additionalProperties: false })

function registerPlay(app: FastifyInstance, { db, clock }: GamesContext): void {
  app.get('/play/session', async (request, reply) => {
    const session = await findDemoSession(db.reader, tokenOf(request), clock.now())
    return session === undefined ? reply.code(401).send({ error: 'expired' }) : view(session)
  })
  app.post<{ Body: { stake: number } }>('/play/spin', { schema: { body: SpinRequest } }, async (request, reply) => {
    const stake = stakes.find((offered) => offered === BigInt(request.body.stake))
    if (stake === undefined) return reply.code(422).send({ error: 'stake' })
    // The server draws the outcome; the page only shows it.
    const line = [spin(), spin(), spin()] as const
    const win = stake * BigInt(payout(line))
    const now = clock.now()
    const balance = await bookSpin(db, { tokenSha256: tokenOf(request), stake, win, now })
    if (balance !== undefined) return { line, win: fromMinorUnits(win), balance: fromMinorUnits(balance) }
    const session = await findDemoSession(db.reader, tokenOf(request), now)
    return session === undefined
      ? reply.code(401).send({ error: 'expired' })
      : reply.code(409).send({ error: 'balance' })
  })
}

const spin = () => symbolAt(randomInt(stopsPerReel))

function tokenOf(request: FastifyRequest): Buffer {
  const token = (request.headers.authorization ?? '').replace(/^Bearer /, '')
  return createHash('sha256').update(token).digest()
}

function view({ gameId, name, balance, expiresAt }: DemoSession) {
  const { symbols, from, to } = themeOf(gameId)
  return {
    name,
    symbols: symbols.map(([shape, color]) => ({ name: shape, color, path: shapes[shape] })),
    colors: { from, to },
    stakes: stakes.map((stake) => ({ value: Number(stake), label: fromMinorUnits(stake) })),
    balance: fromMinorUnits(balance),
    expiresAt: expiresAt.toISOString(),
  }
}
