import { Type } from '@sinclair/typebox'
import type { ErrorCode } from '../errors.ts'
import { exampleBet, examplePlay, sample } from '../examples.ts'
import { get, post, provider, team } from '../operation.ts'
import { BetRequest, PlayResult, PlaySession, SpinRequest, SpinResult } from '../play.ts'
import { Id, PathId, Reason } from '../resources.ts'
import { described, listOf, Nullable, object, text } from '../schema.ts'
import { everyRole } from '../team.ts'

/** What a stake may be refused with: by who may play, or by the wallet. In order of precedence. */
export const stakeRejects: readonly ErrorCode[] = [
  'PLAYER_NOT_FOUND',
  'CURRENCY_MISMATCH',
  'TRANSACTION_CONFLICT',
  'TRANSACTION_ROLLED_BACK',
  'ROUND_VOIDED',
  'ROUND_CLOSED',
  'SESSION_NOT_FOUND',
  'GAME_NOT_FOUND',
  'OPERATOR_SUSPENDED',
  'PROVIDER_SUSPENDED',
  'RG_BLOCKED',
  'PLAYER_NOT_ACTIVE',
  'KYC_NOT_APPROVED',
  'SESSION_EXPIRED',
  'INSUFFICIENT_FUNDS',
]

/** Whether a stake is admitted. The wallet alone answers: what it has already decided stands, whatever holds now. */
export const playAdmission = {
  readPlaySession: provider.query({
    http: get('/sessions/{sessionId}'),
    tag: 'Play',
    summary: 'Read a game session and its balance',
    params: object({ sessionId: described(PathId, 'The session of the launch.') }),
    reply: PlaySession,
    rejects: ['SESSION_NOT_FOUND'],
    example: {
      params: { sessionId: sample.sessionId },
      reply: {
        sessionId: sample.sessionId,
        playerId: sample.playerId,
        gameId: 'wallet-reels',
        currency: 'BRL',
        balance: '150.00',
        state: 'open',
        expiresAt: '2026-03-02T13:04:00.000Z',
      },
    },
  }),

  placeBet: provider.direct({
    http: post('/bets'),
    stores: { bytes: 3_000, rows: 6 },
    tag: 'Play',
    summary: 'Stake money of a player',
    description:
      'Taken once per `transactionId`. A repeated bet answers what became of it the first time, whatever holds now.',
    body: BetRequest,
    reply: PlayResult,
    rejects: stakeRejects,
    example: { body: exampleBet, reply: examplePlay },
  }),

  playSpin: provider.direct({
    http: post('/spins'),
    stores: { bytes: 5_500, rows: 10 },
    tag: 'Play',
    summary: 'Stake and win in one',
    description:
      'A bet, its win and the end of the round: all of it, or nothing. An unknown outcome takes the same spin.',
    body: SpinRequest,
    reply: SpinResult,
    rejects: [...stakeRejects, 'WIN_HELD'],
    example: {
      body: { ...exampleBet, transactionId: 'spin-8001', win: '5.00' },
      reply: {
        ...examplePlay,
        transactionId: 'spin-8001',
        roundState: 'closed',
        win: '5.00',
        balanceAfter: '153.00',
        balance: '153.00',
      },
    },
  }),

  listGameProviders: team.query({
    roles: everyRole,
    summary: 'List all games, and which provider serves each for money',
    body: object({}),
    reply: listOf(700, {
      gameId: Id,
      name: text(128),
      studio: described(text(64), 'Who made the game, as the catalogue says it.'),
      rtp: text(8, { description: 'Return to player in percent, as the catalogue says it.' }),
      providerId: Nullable(Id, 'Null: no money is staked in it.'),
    }),
  }),

  /** Whose sessions a provider may stake in. Without one no money is staked in the game. */
  setGameProvider: team.command({
    roles: ['integration'],
    freshLogin: 'always',
    summary: 'Say which provider serves a game for money',
    body: object({
      gameId: Id,
      providerId: Nullable(Id, 'Null: no provider, so that nobody stakes money in it.'),
      reason: Type.Optional(Reason),
    }),
    reply: object({ gameId: Id, providerId: Nullable(Id) }),
    rejects: ['GAME_NOT_FOUND'],
  }),
}
