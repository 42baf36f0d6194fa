import { createHash, randomInt } from 'node:crypto'
import { fromMinorUnits } from '@backoffice/contracts/formats'
import type { Statements } from '@backoffice/database'
import type { Clock } from '@backoffice/process'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { pairPays, payout, stakes, stopsPerReel, symbolAt, symbols } from '../domain/slot.ts'
import { shapes, themeOf } from '../domain/themes.ts'
import { bookSpin, type Demonstration, findDemonstration } from '../storage/demonstrations.ts'

const SpinRequest = Type.Object({ stake: Type.Integer() }, { additionalProperties: false })

/** As players makes them: 24 random bytes in base64url. */
const bearerToken = /^Bearer ([\w-]{32})$/

export interface Play {
  readonly db: Statements
  readonly clock: Clock
}

/** The routes that the page calls with its token. */
export function registerPlay(app: FastifyInstance, { db, clock }: Play): void {
  app.get('/play/session', async (request, reply) => {
    const tokenSha256 = tokenOf(request)
    const now = clock.now()
    const session = tokenSha256 && (await findDemonstration(db, tokenSha256, now))
    return session === undefined ? expired(reply) : { ...view(session), now: now.toISOString() }
  })
  app.post('/play/spin', async (request, reply) => {
    if (!Value.Check(SpinRequest, request.body)) return reply.code(422).send({ error: 'invalid' })
    const { body } = request
    const stake = stakes.find((offered) => offered === BigInt(body.stake))
    if (stake === undefined) return reply.code(422).send({ error: 'stake' })
    const tokenSha256 = tokenOf(request)
    if (tokenSha256 === undefined) return expired(reply)
    // The server draws the outcome; the page only shows it.
    const line = [spin(), spin(), spin()] as const
    const win = stake * BigInt(payout(line))
    const now = clock.now()
    const balance = await bookSpin(db, { tokenSha256, stake, win, now })
    if (balance !== undefined)
      return { line, win: fromMinorUnits(win), balance: fromMinorUnits(balance), now: now.toISOString() }
    const session = await findDemonstration(db, tokenSha256, now)
    return session === undefined ? expired(reply) : reply.code(409).send({ error: 'balance' })
  })
}

const spin = () => symbolAt(randomInt(stopsPerReel))
const expired = (reply: FastifyReply) => reply.code(401).send({ error: 'expired' })

/** The digest of a request's token; undefined without one that could be ours, so that a guess costs no query. */
function tokenOf(request: FastifyRequest): Buffer | undefined {
  const token = bearerToken.exec(request.headers.authorization ?? '')?.[1]
  return token === undefined ? undefined : createHash('sha256').update(token).digest()
}

function view({ gameId, name, balance, expiresAt }: Demonstration) {
  const { symbols: drawings, from, to } = themeOf(gameId)
  return {
    name,
    symbols: drawings.map(([shape, color], rank) => ({
      ...{ name: shape, color, path: shapes[shape] },
      pays: symbols[rank]?.pays,
    })),
    pairPays,
    colors: { from, to },
    stakes: stakes.map((stake) => ({ value: Number(stake), label: fromMinorUnits(stake) })),
    balance: fromMinorUnits(balance),
    expiresAt: expiresAt.toISOString(),
  }
}
