import { Type } from '@sinclair/typebox'
import { approvedKyc, examplePlayer, exampleSubmission, sample } from '../examples.ts'
import { listedDays, namedPlayersMax } from '../limits.ts'
import { get, internal, operator, post, sandbox, team } from '../operation.ts'
import { personal } from '../personal.ts'
import {
  Amount,
  EnvironmentName,
  ExternalId,
  Id,
  Kyc,
  KycChange,
  KycDecision,
  KycStatus,
  KycSubmissionReceipt,
  KycSubmissionRequest,
  Player,
  PlayerRequest,
  PlayerStatus,
  PublicReason,
  Reason,
  Timestamp,
} from '../resources.ts'
import { arrayOf, Line, listOf, Nullable, named, object, optional, pageOf, text } from '../schema.ts'
import { everyRole } from '../team.ts'
import { operatorNameField, ownerFields, PlayerPath, playerExport, seenField } from './fields.ts'
import { games } from './games.ts'
import { kycReview } from './kyc-review.ts'
import { playAdmission } from './play-admission.ts'
import {
  DocumentSource,
  PlayerChange,
  PlayerStanding,
  TeamPlayer,
  TeamSubmission,
  takenField,
  unmaskFields,
} from './player-records.ts'
import { service } from './runtime.ts'

const { operatorId, environment, status, currency, dailyDepositLimit } = TeamPlayer.properties
/** Whose player it is: what names a person is not kept for good, and a call is. */
const playerShown = { operatorId, environment, status }
const limitShown = { currency, dailyDepositLimit }

/** Players, their identity checks, self-exclusions and limits, games and game sessions. */
export const players = service('players', {
  registerPlayer: operator.command({
    http: post('/players', 201),
    idempotency: 'required',
    // Of somebody who is excluded more, which the gateway counts when it is so.
    stores: { bytes: 6_000, rows: 5 },
    tag: 'Players',
    summary: 'Register a player',
    description: 'Registers a player and opens the wallet. `externalId` is unique per brand.',
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
  }),

  findPlayers: operator.query({
    http: get('/players'),
    tag: 'Players',
    summary: 'Find a player by externalId',
    description: 'The list is empty when the brand has no such player.',
    query: object({ externalId: ExternalId }),
    reply: object({ data: Type.Array(Player, { description: 'The player, or nobody.' }) }),
    example: { query: { externalId: 'user-42' }, reply: { data: [examplePlayer] } },
  }),

  getKyc: operator.query({
    http: get('/players/{playerId}/kyc'),
    tag: 'KYC',
    summary: 'Read the KYC status',
    params: PlayerPath,
    reply: Kyc,
    rejects: ['PLAYER_NOT_FOUND'],
    example: { params: { playerId: sample.playerId }, reply: approvedKyc },
  }),

  submitKyc: operator.command({
    http: post('/players/{playerId}/kyc/submissions', 201),
    idempotency: 'required',
    stores: { bytes: 12_000, rows: 15 },
    tag: 'KYC',
    summary: 'Register a KYC document submission',
    description:
      'The service keeps your reference, never the file. `kycStatus` becomes `em_analise`; the team decides.',
    params: PlayerPath,
    body: KycSubmissionRequest,
    reply: KycSubmissionReceipt,
    rejects: ['PLAYER_NOT_FOUND', 'KYC_ALREADY_APPROVED'],
    example: {
      params: { playerId: sample.playerId },
      body: { documentType: 'rg', reference: 'doc-831' },
      reply: { submission: exampleSubmission, kycStatus: 'em_analise' },
    },
  }),

  ...games,
  ...playAdmission,

  decideKycInSandbox: sandbox.command({
    http: post('/sandbox/players/{playerId}/kyc/decision'),
    stores: { bytes: 8_000, rows: 12 },
    tag: 'Sandbox',
    summary: "Simulate the team's KYC decision",
    params: PlayerPath,
    body: named('KycDecisionRequest', { status: KycDecision, reason: Type.Optional(PublicReason) }),
    reply: KycChange,
    rejects: ['PLAYER_NOT_FOUND'],
    example: { params: { playerId: sample.playerId }, body: { status: 'aprovado' }, reply: approvedKyc },
  }),

  getPlayerStanding: internal.query({
    callers: ['payments'],
    summary: "Read a player's standing",
    params: PlayerPath,
    reply: PlayerStanding,
    rejects: ['PLAYER_NOT_FOUND'],
  }),

  /** For lists of the team's. Payments knows players by their ids alone. A player of another brand is left out. */
  readPlayerNames: internal.query({
    callers: ['payments'],
    summary: 'Read the names of players',
    body: object({ players: arrayOf(namedPlayersMax, { playerId: Id, brandId: Id }) }),
    reply: object({
      players: arrayOf(namedPlayersMax, { playerId: Id, name: Player.properties.name }),
    }),
    // A list without names is better than none.
    timeoutMs: 2_000,
  }),

  /** For lists whose services know players by their ids alone. A player of another brand is left out. */
  namePlayers: team.query({
    roles: everyRole,
    summary: 'Read the names of players',
    body: object({
      players: arrayOf(namedPlayersMax, {
        playerId: Id,
        brandId: Nullable(Id, 'Null: not known. Its owner is in the reply.'),
      }),
    }),
    reply: listOf(namedPlayersMax, { playerId: Id, name: Player.properties.name, operatorId: Id, brandId: Id }),
    // A list without names is better than none.
    timeoutMs: 2_000,
  }),

  showPlayer: team.query({
    roles: everyRole,
    summary: 'Show a player with KYC submissions and the history of its status',
    description:
      'CPF, e-mail, phone and birth date are masked. `unmask` shows them; it needs a reason and is recorded.',
    body: object({ playerId: Id, ...unmaskFields }),
    reply: object({
      ...TeamPlayer.properties,
      ...takenField,
      documentSourceChangedAt: Nullable(
        Timestamp,
        "When the address that the operator's documents open at was last changed. Null: never, it has none, or you do not review them.",
      ),
      submissions: Type.Array(TeamSubmission, { maxItems: 100 }),
      changes: Type.Array(PlayerChange),
    }),
    rejects: ['PLAYER_NOT_FOUND'],
  }),

  exportPlayer: playerExport(),

  listPlayers: team.query({
    roles: everyRole,
    summary: 'List players, newest first',
    body: object({
      brandId: Type.Optional(Id),
      environment: ownerFields.environment,
      externalId: Type.Optional(ExternalId),
      status: Type.Optional(PlayerStatus),
      kycStatus: Type.Optional(KycStatus),
      from: optional(
        Timestamp,
        `Registered at this time or later. Without it, without a brand and an externalId, and unless those who are self-excluded are asked for, the list goes back ${listedDays} days.`,
      ),
      to: optional(Timestamp, 'Registered before this time.'),
      before: optional(Id, 'Go on below this player.'),
      limit: Type.Integer({ minimum: 1, maximum: 1000 }),
    }),
    reply: pageOf(object({ ...TeamPlayer.properties, ...operatorNameField })),
  }),

  searchPlayers: team.query({
    roles: ['compliance', 'finance', 'support', 'auditor'],
    summary: 'Search the players of all operators, newest first',
    description:
      'By one of id, externalId, CPF, e-mail, phone or name. To search by CPF, e-mail or phone needs a reason and is recorded. What is found is masked.',
    body: object({
      playerId: Type.Optional(Id),
      externalId: Type.Optional(ExternalId),
      cpf: optional(PlayerRequest.properties.cpf, 'With or without punctuation.'),
      email: optional(PlayerRequest.properties.email, 'The whole address.'),
      phone: optional(PlayerRequest.properties.phone, 'Digits, with the country code or, in Brazil, without.'),
      name: Type.Optional(
        personal(
          'name',
          Type.String({
            minLength: 2,
            maxLength: 200,
            description: 'Words of the name, or how they begin. Case and accents do not matter.',
          }),
        ),
      ),
      ...ownerFields,
      before: optional(Id, 'Go on below this player.'),
      limit: Type.Integer({ minimum: 1, maximum: 100 }),
      reason: Type.Optional(Reason),
    }),
    reply: pageOf(object({ ...TeamPlayer.properties, ...operatorNameField })),
  }),

  ...kycReview,

  showDocumentUrl: team.query({
    roles: ['integration', 'compliance', 'auditor'],
    summary: "Show where an operator's KYC documents open",
    body: object({ operatorId: Id, environment: EnvironmentName }),
    reply: DocumentSource,
  }),

  setDocumentUrl: team.command({
    roles: ['integration'],
    freshLogin: { when: { environment: 'production' } },
    twoPeople: { when: { environment: 'production' } },
    summary: "Set where an operator's KYC documents open, for the links in the queue",
    description:
      'The key that signs the links is shown once, when it is made: give it to the operator. A new key replaces the old one at once.',
    body: object({
      operatorId: Id,
      environment: EnvironmentName,
      template: Nullable(
        Line({ minLength: 1, maxLength: 500 }),
        'Over https, with {reference} once, where the reference goes. Null: no links.',
      ),
      newKey: optional(Type.Boolean(), 'Replace the key that signs.'),
      ...seenField({ template: Nullable(Line({ maxLength: 500 })) }),
      reason: Reason,
    }),
    reply: object({
      ...DocumentSource.properties,
      secret: Nullable(text(128), 'Null: it is not shown again.'),
    }),
    rejects: ['VALIDATION_ERROR', 'NOT_AS_SEEN'],
  }),

  setPlayerStatus: team.command({
    roles: ['compliance'],
    twoPeople: 'in production',
    summary: "Change a player's status",
    description: 'Ending a self-exclusion in production takes two people.',
    body: object({ playerId: Id, status: PlayerStatus, ...seenField(playerShown), reason: Reason }),
    reply: TeamPlayer,
    rejects: ['PLAYER_NOT_FOUND', 'NOT_AS_SEEN'],
  }),

  selfExcludePlayer: team.command({
    roles: ['compliance'],
    summary: 'Exclude a player at its own wish, until a time or for good',
    description: 'A running exclusion can be made longer, never shorter.',
    body: object({
      playerId: Id,
      until: Nullable(Timestamp, 'Null: for good.'),
      ...seenField(playerShown),
      reason: Type.Optional(Reason),
    }),
    reply: TeamPlayer,
    rejects: ['PLAYER_NOT_FOUND', 'NOT_AS_SEEN', 'VALIDATION_ERROR'],
  }),

  setDailyLimit: team.command({
    roles: ['compliance'],
    summary: "Set a player's daily deposit limit",
    description: 'Lowering holds at once; raising or removing only after a cooling-off of 24 hours.',
    body: object({
      playerId: Id,
      dailyDepositLimit: Nullable(Amount, 'Null: no limit.'),
      ...seenField({ ...playerShown, ...limitShown }),
      reason: Type.Optional(Reason),
    }),
    reply: TeamPlayer,
    rejects: ['PLAYER_NOT_FOUND', 'NOT_AS_SEEN'],
  }),

  anonymisePlayer: team.command({
    roles: ['compliance'],
    freshLogin: 'always',
    summary: 'Replace everything that identifies a player, for good',
    description:
      'The ids, amounts and dates stay, so that the ledger stays whole. Refused unless the player is `encerrado`, without money, open deposits or withdrawals or a running self-exclusion, and the law no longer asks to keep the records.',
    body: object({ playerId: Id, ...seenField(playerShown), reason: Reason }),
    reply: TeamPlayer,
    rejects: ['PLAYER_NOT_FOUND', 'NOT_AS_SEEN', 'PLAYER_DATA_NEEDED'],
    timeoutMs: 15_000,
  }),
})
