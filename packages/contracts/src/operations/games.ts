import { Type } from '@sinclair/typebox'
import { sample } from '../examples.ts'
import { get, operator, post, team } from '../operation.ts'
import { Game, GameSession, Id, Reason } from '../resources.ts'
import { named, object, optional, pageOf } from '../schema.ts'
import { PlayerPath } from './fields.ts'
import { OpenedSession } from './player-records.ts'

/** The catalogue, and sessions of players. */
export const games = {
  listGames: operator.query({
    http: get('/games'),
    tag: 'Games',
    summary: 'List the game catalogue',
    reply: object({ data: Type.Array(Game, { description: 'The games that your players may open.' }) }),
    example: {
      reply: {
        data: [
          {
            id: 'fortune-reels',
            name: 'Fortune Reels',
            provider: 'Demo Studio',
            category: 'slots',
            thumbnailUrl: 'https://games.example.com/games/fortune-reels.svg',
            rtp: '96.10',
            demo: true,
          },
        ],
      },
    },
  }),

  openGameSession: operator.command({
    http: post('/players/{playerId}/game-sessions', 201),
    stores: { bytes: 3_000, rows: 2 },
    tag: 'Games',
    summary: 'Open a game session',
    description:
      "Answers a `gameUrl` for the player's browser. Needs an approved KYC, status `ativo`, and no self-exclusion or exceeded daily limit. In the sandbox the session is a demonstration with a fictitious balance.",
    params: PlayerPath,
    body: named('GameSessionRequest', {
      gameId: Type.String({ minLength: 1, maxLength: 128, description: 'A game of the catalogue.' }),
    }),
    reply: GameSession,
    rejects: [
      'PLAYER_NOT_FOUND',
      'GAME_NOT_FOUND',
      'RG_BLOCKED',
      'PLAYER_NOT_ACTIVE',
      'KYC_NOT_APPROVED',
      'PROVIDER_UNAVAILABLE',
    ],
    timeoutMs: 10_000,
    sentOnce: true,
    example: {
      params: { playerId: sample.playerId },
      body: { gameId: 'fortune-reels' },
      reply: {
        id: sample.sessionId,
        playerId: sample.playerId,
        gameId: 'fortune-reels',
        mode: 'demo',
        gameUrl: 'https://games.example.com/demo/fortune-reels#ZXhhbXBsZQ',
        expiresAt: '2026-03-02T13:04:00.000Z',
      },
    },
  }),

  listGameSessions: team.query({
    roles: ['compliance', 'finance', 'support', 'auditor'],
    summary: 'List the game sessions of a player, newest first',
    description: 'What was opened in the last 90 days. What was played is with the game provider.',
    body: object({
      playerId: Id,
      before: optional(Id, 'Go on below this session.'),
      limit: Type.Integer({ minimum: 1, maximum: 1000 }),
    }),
    reply: pageOf(OpenedSession),
    rejects: ['PLAYER_NOT_FOUND'],
  }),

  setGameAvailability: team.command({
    roles: ['integration'],
    summary: "Put a game into a brand's catalogue or take it out",
    body: object({ brandId: Id, gameId: Id, available: Type.Boolean(), reason: Type.Optional(Reason) }),
    reply: object({ gameId: Id, available: Type.Boolean() }),
    rejects: ['GAME_NOT_FOUND'],
  }),
}
