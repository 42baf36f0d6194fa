import { createHash, randomInt } from 'node:crypto'
import { fromMinorUnits } from '@backoffice/contracts/formats'
import type { Statements } from '@backoffice/database'
import type { Clock, Logger } from '@backoffice/process'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { demonstration, lineOf, payout, stakes, stopsOf, symbolAt, walletReels } from '../domain/slot.ts'
import { shapes, themeOf } from '../domain/themes.ts'
import { bookSpin, type Demonstration, findDemonstration, type StakedSession } from '../storage/demonstrations.ts'
import { type SpinAnswer, spinName, type WalletProvider, type WalletSpin } from '../wallet-provider.ts'

const SpinRequest = Type.Object(
  {
    stake: Type.Integer(),
    /** In the game that stakes the sandbox's money: which spin of the session it is. */
    spin: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
  },
  { additionalProperties: false },
)

/** As players makes them: 24 random bytes in base64url. */
const bearerToken = /^Bearer ([\w-]{32})$/

export interface Play {
  readonly db: Statements
  readonly clock: Clock
  readonly log: Logger
  /** Without it the game that stakes the sandbox's money is not served. */
  readonly provider: WalletProvider | undefined
}

/** The routes that the page calls with its token. */
export function registerPlay(app: FastifyInstance, { db, clock, log, provider }: Play): void {
  app.get('/play/session', async (request, reply) => {
    const tokenSha256 = tokenOf(request)
    const now = clock.now()
    const session = tokenSha256 && (await findDemonstration(db, tokenSha256, now))
    if (session === undefined) return expired(reply)
    const shown = await viewOf(session, provider).catch((err) => {
      log.warn({ err }, 'the house did not say what a session may stake')
    })
    return shown === undefined ? unavailable(reply) : { ...shown, now: now.toISOString() }
  })
  app.post('/play/spin', async (request, reply) => {
    if (!Value.Check(SpinRequest, request.body)) return reply.code(422).send({ error: 'invalid' })
    const { body } = request
    const stake = stakes.find((offered) => offered === BigInt(body.stake))
    if (stake === undefined) return reply.code(422).send({ error: 'stake' })
    const tokenSha256 = tokenOf(request)
    if (tokenSha256 === undefined) return expired(reply)
    const now = clock.now()
    if (body.spin === undefined) {
      // The server draws the outcome; the page only shows it.
      const line = [drawn(), drawn(), drawn()] as const
      const win = stake * BigInt(payout(demonstration, line))
      const balance = await bookSpin(db, { tokenSha256, stake, win, now })
      if (balance !== undefined)
        return { line, win: fromMinorUnits(win), balance: fromMinorUnits(balance), now: now.toISOString() }
    }
    const session = await findDemonstration(db, tokenSha256, now)
    if (session === undefined) return expired(reply)
    if ((session.staked === null) !== (body.spin === undefined)) return reply.code(422).send({ error: 'invalid' })
    if (session.staked === null || body.spin === undefined) return reply.code(409).send({ error: 'balance' })
    if (provider === undefined) return unavailable(reply)
    const { gameId, staked } = session
    const { status, body: answer } = await spinOfWallet(provider, { session: staked, gameId, number: body.spin, stake })
    return reply.code(status).send({ ...answer, now: clock.now().toISOString() })
  })
}

const drawn = () => symbolAt(demonstration, randomInt(stopsOf(demonstration)))
const expired = (reply: FastifyReply) => reply.code(401).send({ error: 'expired' })
const unavailable = (reply: FastifyReply) => reply.code(503).header('Retry-After', '1').send({ error: 'unavailable' })

/** The digest of a request's token; undefined without one that could be ours, so that a guess costs no query. */
function tokenOf(request: FastifyRequest): Buffer | undefined {
  const token = bearerToken.exec(request.headers.authorization ?? '')?.[1]
  return token === undefined ? undefined : createHash('sha256').update(token).digest()
}

/** @returns undefined when the game is not served. @throws when the house does not say the balance */
async function viewOf({ gameId, name, balance, staked, expiresAt }: Demonstration, provider: Play['provider']) {
  const { symbols: drawings, from, to } = themeOf(gameId)
  const machine = staked === null ? demonstration : walletReels
  const money = staked === null ? { balance: fromMinorUnits(balance ?? 0n) } : await stakedView(provider, staked)
  if (money === undefined) return undefined
  return {
    name,
    symbols: drawings.map(([shape, color], rank) => ({
      ...{ name: shape, color, path: shapes[shape] },
      pays: machine.symbols[rank]?.pays,
    })),
    pairPays: machine.pairPays,
    colors: { from, to },
    stakes: stakes.map((stake) => ({ value: Number(stake), label: fromMinorUnits(stake) })),
    ...money,
    expiresAt: expiresAt.toISOString(),
  }
}

/** What the page shows of the wallet that it plays for, and which spin is next. @returns undefined when the game is not served */
async function stakedView(provider: WalletProvider | undefined, session: StakedSession) {
  if (provider === undefined) return undefined
  const [balance, spin] = await Promise.all([provider.readBalance(session), provider.nextNumber(session)])
  return { balance, currency: session.currency, spin }
}

/** A spin for the money of the sandbox's wallet. Its outcome follows from its number, so that it is the same when it is sent again. */
async function spinOfWallet(
  provider: WalletProvider,
  spin: Omit<WalletSpin, 'win'>,
): Promise<{ readonly status: number; readonly body: object }> {
  const line = lineOf(walletReels, provider.secret, spinName(spin.session, spin.number))
  const answer = await provider.spin({ ...spin, win: spin.stake * BigInt(payout(walletReels, line)) })
  const next = spin.number + 1
  switch (answer.is) {
    case 'played':
      return {
        status: 200,
        body: { line, win: answer.win, balance: answer.balance, isOld: answer.isOld, spin: next },
      }
    case 'refused':
      return refused(answer, next)
    case 'not taken':
      return { status: 503, body: { error: limits.has(answer.code) ? 'limited' : 'unavailable', spin: spin.number } }
    case 'unknown':
      return { status: 503, body: { error: 'asking', spin: spin.number } }
    default:
      return answer satisfies never
  }
}

const limits: ReadonlySet<string> = new Set(['RATE_LIMITED', 'DAILY_QUOTA_EXCEEDED'])

/** What the page calls it. */
const refusals: Readonly<Record<string, string>> = {
  INSUFFICIENT_FUNDS: 'balance',
  PLAYER_NOT_ACTIVE: 'inactive',
  KYC_NOT_APPROVED: 'unchecked',
  OPERATOR_SUSPENDED: 'suspended',
  PROVIDER_SUSPENDED: 'suspended',
  TRANSACTION_CONFLICT: 'elsewhere',
}
const over: ReadonlySet<string> = new Set([
  'SESSION_EXPIRED',
  'SESSION_NOT_FOUND',
  'GAME_NOT_FOUND',
  'PLAYER_NOT_FOUND',
])

function refused({ code, reason }: Extract<SpinAnswer, { is: 'refused' }>, next: number) {
  if (over.has(code)) return { status: 401, body: { error: 'expired' } }
  const limit = reason === 'daily_limit' ? 'overLimit' : 'excluded'
  return { status: 409, body: { error: code === 'RG_BLOCKED' ? limit : (refusals[code] ?? 'refused'), spin: next } }
}
