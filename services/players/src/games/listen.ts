import { createHash, randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { fromMinorUnits } from '@backoffice/contracts'
import { type Background, type ServiceContext, sqlOf } from '@backoffice/service-runtime'
import { Type } from '@sinclair/typebox'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { PlayersConfig } from '../config.ts'
import { payout, stakes, stopsPerReel, symbolAt } from '../domain/slot.ts'
import { type DemoSession, findDemoSession, settleSpin } from '../storage/demo-sessions.ts'
import { shapes, themeOf } from './themes.ts'
import { thumbnail } from './thumbnail.ts'

export interface GamesListener extends Background {
  /** Where it listens, without a slash at the end. */
  readonly url: string
}

/** The page may load and call itself only; an operator may show it in an iframe. */
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

/** Starts the public listener of thumbnails and the demonstration game. */
export async function listenForGames(config: PlayersConfig, shared: ServiceContext): Promise<GamesListener> {
  const app = fastify({
    logger: false,
    bodyLimit: bodyBytesMax,
    requestTimeout: 10_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // Nothing is coerced: what is not as the schema says is refused.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
  })
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Content-Security-Policy': contentSecurityPolicy,
    })
  })
  registerPages(app, shared)
  registerPlay(app, shared)
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500
    if (status >= 500) shared.log.error({ err: error }, 'the demonstration game failed')
    return reply.code(status === 400 ? 422 : status).send({ error: status >= 500 ? 'internal' : 'invalid' })
  })
  await app.listen({ host: config.GAMES_HOST, port: config.GAMES_PORT })
  const { port } = app.server.address() as AddressInfo
  const url = config.GAMES_BASE_URL ?? `http://127.0.0.1:${port}`
  shared.log.info({ url }, 'serving games')
  return { url, stop: () => app.close() }
}

function registerPages(app: FastifyInstance, shared: ServiceContext): void {
  app.get<{ Params: { file: string } }>('/thumbnails/:file', async (request, reply) => {
    const gameId = request.params.file.replace(/\.svg$/, '')
    const { rows } = await sql<{ id: string; name: string; provider: string }>`
      select id, name, provider from game where id = ${gameId}
    `.execute(sqlOf(shared.orm.em.fork()))
    if (rows[0] === undefined) return reply.code(404).send({ error: 'not found' })
    return reply
      .headers({ 'Content-Type': 'image/svg+xml', 'Cache-Control': `public, max-age=${maxAgeSeconds}` })
      .send(thumbnail(rows[0]))
  })
  // The page is the same for every game; its token, in the fragment, says which one is played.
  app.get('/demo/:gameId', (_request, reply) => reply.header('Content-Type', 'text/html; charset=utf-8').send(page))
  for (const [name, { contentType, body }] of Object.entries(assets)) {
    app.get(`/assets/${name}`, (_request, reply) =>
      reply.headers({ 'Content-Type': contentType, 'Cache-Control': `public, max-age=${maxAgeSeconds}` }).send(body),
    )
  }
}

const SpinRequest = Type.Object({ stake: Type.Integer() }, { additionalProperties: false })

function registerPlay(app: FastifyInstance, { orm, clock }: ServiceContext): void {
  const connection = () => sqlOf(orm.em.fork())
  app.get('/play/session', async (request, reply) => {
    const session = await findDemoSession(connection(), tokenOf(request), clock.now())
    return session === undefined ? reply.code(401).send({ error: 'expired' }) : view(session)
  })
  app.post<{ Body: { stake: number } }>('/play/spin', { schema: { body: SpinRequest } }, async (request, reply) => {
    const stake = stakes.find((offered) => offered === BigInt(request.body.stake))
    if (stake === undefined) return reply.code(422).send({ error: 'stake' })
    // The outcome is the server's; the page only shows it.
    const line = [spin(), spin(), spin()] as const
    const win = stake * BigInt(payout(line))
    const now = clock.now()
    const balance = await settleSpin(connection(), { tokenSha256: tokenOf(request), stake, win, now })
    if (balance !== undefined) return { line, win: fromMinorUnits(win), balance: fromMinorUnits(balance) }
    const session = await findDemoSession(connection(), tokenOf(request), now)
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
