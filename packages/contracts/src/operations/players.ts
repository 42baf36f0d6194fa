import { type Static, Type } from '@sinclair/typebox'
import { operation } from '../operation.ts'
import {
  Amount,
  Currency,
  EnvironmentName,
  ExternalId,
  Game,
  GameSession,
  Id,
  Kyc,
  KycDecision,
  KycStatus,
  KycSubmissionReceipt,
  KycSubmissionRequest,
  Money,
  Nullable,
  Player,
  PlayerRequest,
  PlayerStatus,
  Timestamp,
} from '../resources.ts'
import { PlayerPath, sample } from './paths.ts'

const operator = { service: 'players', audience: 'operator' } as const
const closed = { additionalProperties: false } as const

const examplePlayer = {
  id: sample.playerId,
  externalId: 'user-42',
  name: 'Ana Souza',
  email: 'ana@example.com',
  cpf: '52998224725',
  phone: '+5511987654321',
  birthDate: '1990-05-17',
  status: 'ativo',
  kycStatus: 'nao_iniciado',
  currency: 'BRL',
  createdAt: '2026-03-02T12:00:00.000Z',
}
const exampleSubmission = {
  id: 'kyc_01kaj6e2v7fbpsp8m0fsfyh2kb',
  documentType: 'rg',
  reference: 'doc-831',
  submittedAt: '2026-03-02T12:00:05.120Z',
}
const exampleKyc = {
  playerId: sample.playerId,
  kycStatus: 'aprovado',
  submissions: [exampleSubmission],
  decidedAt: '2026-03-02T12:01:00.000Z',
  reason: null,
}

export const registerPlayer = operation({
  ...operator,
  id: 'registerPlayer',
  kind: 'command',
  tag: 'Players',
  summary: 'Register a player',
  description: 'Registers a player and opens the wallet. `externalId` is unique per brand.',
  http: { method: 'POST', path: '/players', status: 201 },
  idempotency: 'required',
  body: PlayerRequest,
  reply: Player,
  rejects: ['VALIDATION_ERROR', 'PLAYER_ALREADY_EXISTS'],
  example: {
    body: {
      externalId: 'user-42',
      name: 'Ana Souza',
      email: 'ana@example.com',
      cpf: '529.982.247-25',
      phone: '+5511987654321',
      birthDate: '1990-05-17',
    },
    reply: examplePlayer,
  },
})

export const findPlayers = operation({
  ...operator,
  id: 'findPlayers',
  kind: 'query',
  tag: 'Players',
  summary: 'Find a player by externalId',
  description: 'The list is empty when the brand has no such player.',
  http: { method: 'GET', path: '/players', status: 200 },
  query: Type.Object({ externalId: ExternalId }, closed),
  reply: Type.Object({ data: Type.Array(Player) }, closed),
  example: { query: { externalId: 'user-42' }, reply: { data: [examplePlayer] } },
})

export const getKyc = operation({
  ...operator,
  id: 'getKyc',
  kind: 'query',
  tag: 'KYC',
  summary: 'Read the KYC status',
  http: { method: 'GET', path: '/players/{playerId}/kyc', status: 200 },
  params: PlayerPath,
  reply: Kyc,
  rejects: ['PLAYER_NOT_FOUND'],
  example: { params: { playerId: sample.playerId }, reply: exampleKyc },
})

export const submitKyc = operation({
  ...operator,
  id: 'submitKyc',
  kind: 'command',
  tag: 'KYC',
  summary: 'Register a KYC document submission',
  description: 'The service keeps your reference, never the file. `kycStatus` becomes `em_analise`; the team decides.',
  http: { method: 'POST', path: '/players/{playerId}/kyc/submissions', status: 201 },
  idempotency: 'required',
  params: PlayerPath,
  body: KycSubmissionRequest,
  reply: KycSubmissionReceipt,
  rejects: ['PLAYER_NOT_FOUND', 'KYC_ALREADY_APPROVED'],
  example: {
    params: { playerId: sample.playerId },
    body: { documentType: 'rg', reference: 'doc-831' },
    reply: { submission: exampleSubmission, kycStatus: 'em_analise' },
  },
})

export const listGames = operation({
  ...operator,
  id: 'listGames',
  kind: 'query',
  tag: 'Games',
  summary: 'List the game catalogue',
  http: { method: 'GET', path: '/games', status: 200 },
  reply: Type.Object({ data: Type.Array(Game) }, closed),
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
})

export const openGameSession = operation({
  ...operator,
  id: 'openGameSession',
  kind: 'command',
  tag: 'Games',
  summary: 'Open a game session',
  description:
    "Answers a `gameUrl` for the player's browser. Needs an approved KYC, status `ativo`, and no self-exclusion or exceeded daily limit. In the sandbox the session is a demonstration with a fictitious balance.",
  http: { method: 'POST', path: '/players/{playerId}/game-sessions', status: 201 },
  params: PlayerPath,
  body: Type.Object(
    { gameId: Type.String({ minLength: 1, maxLength: 128 }) },
    { ...closed, $id: 'GameSessionRequest' },
  ),
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
  example: {
    params: { playerId: sample.playerId },
    body: { gameId: 'fortune-reels' },
    reply: {
      id: 'ses_01kaj6hbv9e8psa4x2j3x0m6td',
      playerId: sample.playerId,
      gameId: 'fortune-reels',
      mode: 'demo',
      gameUrl: 'https://games.example.com/demo/fortune-reels#ZXhhbXBsZQ',
      expiresAt: '2026-03-02T13:04:00.000Z',
    },
  },
})

export const decideKycInSandbox = operation({
  service: 'players',
  audience: 'sandbox',
  id: 'decideKycInSandbox',
  kind: 'command',
  tag: 'Sandbox',
  summary: "Simulate the team's KYC decision",
  http: { method: 'POST', path: '/sandbox/players/{playerId}/kyc/decision', status: 200 },
  params: PlayerPath,
  body: Type.Object(
    { status: KycDecision, reason: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })) },
    { ...closed, $id: 'KycDecisionRequest' },
  ),
  reply: Kyc,
  rejects: ['PLAYER_NOT_FOUND'],
  example: { params: { playerId: sample.playerId }, body: { status: 'aprovado' }, reply: exampleKyc },
})

/** What other services must know of a player before they take or give money. Read for each request, never cached. */
export const PlayerStanding = Type.Object(
  {
    playerId: Id,
    currency: Currency,
    status: PlayerStatus,
    kycStatus: KycStatus,
    selfExcluded: Type.Boolean({ description: 'A self-exclusion is running now, whatever the status says.' }),
    dailyDepositLimit: Nullable(Money),
  },
  closed,
)
export type PlayerStanding = Static<typeof PlayerStanding>

export const getPlayerStanding = operation({
  service: 'players',
  audience: 'internal',
  id: 'getPlayerStanding',
  kind: 'query',
  callers: ['payments'],
  summary: "Read a player's standing",
  params: PlayerPath,
  reply: PlayerStanding,
  rejects: ['PLAYER_NOT_FOUND'],
})

const team = { service: 'players', audience: 'team' } as const
const Reason = Type.String({ minLength: 1, maxLength: 500, description: 'Why; kept in the audit trail.' })

/** A player as the team sees it. */
export const TeamPlayer = Type.Object(
  {
    ...Player.properties,
    operatorId: Id,
    brandId: Id,
    environment: EnvironmentName,
    timeZone: Type.String(),
    kycDecidedAt: Nullable(Timestamp),
    kycReason: Nullable(Type.String()),
    selfExclusion: Nullable(
      Type.Object({ from: Timestamp, until: Nullable(Timestamp, { description: 'Null: for good.' }) }, closed),
    ),
    dailyDepositLimit: Nullable(Money),
    /** A raise or removal that waits for the end of its cooling-off. */
    pendingLimit: Nullable(Type.Object({ dailyDepositLimit: Nullable(Money), from: Timestamp }, closed)),
  },
  closed,
)
export type TeamPlayer = Static<typeof TeamPlayer>

/** Finds a player, and the brand it belongs to, by its id alone. */
export const locatePlayer = operation({
  ...team,
  id: 'locatePlayer',
  kind: 'query',
  summary: 'Find a player by its id',
  body: Type.Object({ id: Id }, closed),
  reply: TeamPlayer,
  rejects: ['PLAYER_NOT_FOUND'],
})

export const PlayerChange = Type.Object(
  {
    at: Timestamp,
    actor: Type.String(),
    field: Type.String(),
    from: Nullable(Type.String()),
    to: Nullable(Type.String()),
    reason: Nullable(Type.String()),
  },
  closed,
)

export const showPlayer = operation({
  ...team,
  id: 'showPlayer',
  kind: 'query',
  summary: 'Show a player with KYC submissions and the history of its status',
  body: Type.Object({ brandId: Id, playerId: Id }, closed),
  reply: Type.Object(
    { ...TeamPlayer.properties, submissions: Kyc.properties.submissions, changes: Type.Array(PlayerChange) },
    closed,
  ),
  rejects: ['PLAYER_NOT_FOUND'],
})

/** Newest first; `before` is the id of the last player of the page before. */
export const listPlayers = operation({
  ...team,
  id: 'listPlayers',
  kind: 'query',
  summary: "List a brand's players",
  body: Type.Object(
    {
      brandId: Id,
      externalId: Type.Optional(ExternalId),
      status: Type.Optional(PlayerStatus),
      kycStatus: Type.Optional(KycStatus),
      before: Type.Optional(Id),
      limit: Type.Integer({ minimum: 1, maximum: 1000 }),
    },
    closed,
  ),
  reply: Type.Object({ data: Type.Array(TeamPlayer) }, closed),
})

/** Players whose documents wait for a decision, the longest wait first. */
export const kycQueue = operation({
  ...team,
  id: 'kycQueue',
  kind: 'query',
  summary: 'List the players that wait for a KYC decision',
  body: Type.Object(
    {
      brandId: Type.Optional(Id),
      limit: Type.Integer({ minimum: 1, maximum: 1000 }),
    },
    closed,
  ),
  reply: Type.Object(
    {
      data: Type.Array(
        Type.Object(
          {
            playerId: Id,
            operatorId: Id,
            brandId: Id,
            environment: EnvironmentName,
            name: Type.String(),
            kycStatus: KycStatus,
            submissions: Type.Integer(),
            latestDocumentType: Type.String(),
            latestReference: Type.String(),
            waitingSince: Timestamp,
          },
          closed,
        ),
      ),
    },
    closed,
  ),
})

export const decideKyc = operation({
  ...team,
  id: 'decideKyc',
  kind: 'command',
  summary: "Decide a player's identity check",
  body: Type.Object({ brandId: Id, playerId: Id, status: KycDecision, reason: Type.Optional(Reason) }, closed),
  reply: Kyc,
  rejects: ['PLAYER_NOT_FOUND'],
})

export const setPlayerStatus = operation({
  ...team,
  id: 'setPlayerStatus',
  kind: 'command',
  summary: "Change a player's status",
  body: Type.Object({ brandId: Id, playerId: Id, status: PlayerStatus, reason: Reason }, closed),
  reply: TeamPlayer,
  rejects: ['PLAYER_NOT_FOUND'],
})

/** Until a time, or for good. A running exclusion can be made longer, never shorter. */
export const selfExcludePlayer = operation({
  ...team,
  id: 'selfExcludePlayer',
  kind: 'command',
  summary: 'Exclude a player at its own wish',
  body: Type.Object(
    {
      brandId: Id,
      playerId: Id,
      until: Nullable(Timestamp, { description: 'Null: for good.' }),
      reason: Type.Optional(Reason),
    },
    closed,
  ),
  reply: TeamPlayer,
  rejects: ['PLAYER_NOT_FOUND', 'VALIDATION_ERROR'],
})

/** Lowering holds at once; raising or removing only after a cooling-off of 24 hours. */
export const setDailyLimit = operation({
  ...team,
  id: 'setDailyLimit',
  kind: 'command',
  summary: "Set a player's daily deposit limit",
  body: Type.Object(
    {
      brandId: Id,
      playerId: Id,
      dailyDepositLimit: Nullable(Amount, { description: 'Null: no limit.' }),
      reason: Type.Optional(Reason),
    },
    closed,
  ),
  reply: TeamPlayer,
  rejects: ['PLAYER_NOT_FOUND'],
})

export const setGameAvailability = operation({
  ...team,
  id: 'setGameAvailability',
  kind: 'command',
  summary: "Put a game into a brand's catalogue or take it out",
  body: Type.Object({ brandId: Id, gameId: Id, available: Type.Boolean(), reason: Type.Optional(Reason) }, closed),
  reply: Type.Object({ gameId: Id, available: Type.Boolean() }, closed),
  rejects: ['GAME_NOT_FOUND'],
})
