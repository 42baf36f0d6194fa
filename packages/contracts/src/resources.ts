import { type Static, Type } from '@sinclair/typebox'
import './formats.ts'
import { amountPattern, moneyPattern } from './money.ts'
import { personal } from './personal.ts'
import { closed, Nullable, oneOf, text } from './schema.ts'
import { Line, Lines } from './text.ts'

/** The version of the public API, reported by GET /me and in every event. */
export const apiVersion = '1.1.0'
export const apiPrefix = '/api/v1'

export const Id = Type.String({ minLength: 1, maxLength: 64, description: 'Opaque identifier.' })
/**
 * An id in a path may be anything that a path segment can hold safely. An id that was never issued is unknown, not
 * invalid.
 */
export const PathId = Type.String({ pattern: '^[A-Za-z0-9_.~:-]{1,128}$', description: 'Opaque identifier.' })
/** More digits than the sum of all that a brand could ever hold. */
const moneyLengthMax = 40
export const Money = Type.String({
  pattern: moneyPattern,
  maxLength: moneyLengthMax,
  description: 'Decimal string with exactly 2 decimal places.',
})
export const Amount = Type.String({
  pattern: amountPattern,
  format: 'amount',
  maxLength: 16,
  description: 'Positive decimal string with at most 2 decimal places.',
})
export const Currency = Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217 currency code.' })
export const Timestamp = Type.String({ format: 'date-time', description: 'ISO 8601 in UTC with milliseconds.' })
export const CalendarDate = Type.String({ format: 'date', description: 'YYYY-MM-DD.' })
export const environments = ['sandbox', 'production'] as const
export const EnvironmentName = oneOf(environments)
export type Environment = Static<typeof EnvironmentName>

const reasonLength = { minLength: 1, maxLength: 500 }
/** A reason that the operator reads with the record. */
export const PublicReason = personal('note', Lines(reasonLength))
/** Why a person of the team did something; only the team reads it. */
export const Reason = personal('note', Lines({ ...reasonLength, description: 'Why; kept in the audit trail.' }))
/** What somebody wrote for a reason, as records show it. */
export const Note = personal('note', text(500))

export const Method = Line({
  minLength: 1,
  maxLength: 64,
  description: 'Payment-method label chosen by the operator.',
})

export const playerStatuses = ['ativo', 'suspenso', 'bloqueado', 'autoexcluido', 'encerrado', 'restrito'] as const
export const PlayerStatus = oneOf(playerStatuses, { description: 'Account status of the player.' })
export type PlayerStatus = Static<typeof PlayerStatus>

export const kycStatuses = [
  'nao_iniciado',
  'pendente',
  'em_analise',
  'documento_solicitado',
  'aprovado',
  'reprovado',
  'expirado',
] as const
export const KycStatus = oneOf(kycStatuses, { description: 'Status of the identity check (KYC).' })
export type KycStatus = Static<typeof KycStatus>

const [, ...decidedStatuses] = kycStatuses
/** Every status but the first, because nobody decides that a check was not begun. */
export const kycDecisions: Readonly<typeof decidedStatuses> = decidedStatuses
export const KycDecision = oneOf(kycDecisions, { description: 'The decided status.' })
export type KycDecision = Static<typeof KycDecision>

export const depositStatuses = ['pending', 'confirmed', 'failed'] as const
export const DepositStatus = oneOf(depositStatuses)
export type DepositStatus = Static<typeof DepositStatus>

export const withdrawalStatuses = ['under_review', 'approved', 'paid', 'rejected', 'cancelled', 'failed'] as const
export const WithdrawalStatus = oneOf(withdrawalStatuses)
export type WithdrawalStatus = Static<typeof WithdrawalStatus>

export const ledgerTypes = ['DEPOSIT', 'WITHDRAWAL', 'ADJUSTMENT', 'REVERSAL'] as const
/** What causes an entry of each type, as the reference of a ledger item calls it. */
export const ledgerCauses = {
  DEPOSIT: 'deposit',
  WITHDRAWAL: 'withdrawal',
  ADJUSTMENT: 'adjustment',
  REVERSAL: 'reversal',
} as const satisfies Record<(typeof ledgerTypes)[number], string>
const listOfCauses = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(Object.values(ledgerCauses))
export const LedgerType = oneOf(ledgerTypes)
export type LedgerType = Static<typeof LedgerType>

export const Me = Type.Object(
  {
    operator: Type.Object({ id: Id, name: text(64), environment: EnvironmentName }, closed),
    brand: Type.Object({ id: Id, name: text(100), currency: Currency, isSandbox: Type.Boolean() }, closed),
    apiVersion: text(32),
  },
  { ...closed, $id: 'Me' },
)

export const PersonName = personal('name', text(200))

export const Player = Type.Object(
  {
    id: personal('player', Id),
    externalId: Nullable(personal('externalId', text(128))),
    name: PersonName,
    email: personal('email', text(254)),
    cpf: personal('cpf', Type.String({ pattern: '^\\d{11}$' })),
    phone: Nullable(personal('phone', text(16))),
    birthDate: Nullable(personal('birthDate', CalendarDate)),
    status: PlayerStatus,
    kycStatus: KycStatus,
    currency: Currency,
    createdAt: Timestamp,
  },
  { ...closed, $id: 'Player' },
)
export type Player = Static<typeof Player>

const externalId = { minLength: 1, maxLength: 128, description: "The operator's own identifier; unique per brand." }
/** By which a player is looked up: it may be as it was accepted long ago, with control characters. */
export const ExternalId = personal('externalId', Type.String(externalId))

export const PlayerRequest = Type.Object(
  {
    externalId: personal('externalId', Line(externalId)),
    name: personal('name', Line({ minLength: 2, maxLength: 200 })),
    email: personal('email', Type.String({ format: 'email', maxLength: 254 })),
    cpf: personal('cpf', Type.String({ format: 'cpf', maxLength: 14, description: 'With or without punctuation.' })),
    phone: Type.Optional(
      personal('phone', Type.String({ pattern: '^\\+?\\d{10,15}$', description: 'Optional +, then 10 to 15 digits.' })),
    ),
    birthDate: personal(
      'birthDate',
      Type.String({ format: 'date', description: 'YYYY-MM-DD; the player must be over 18.' }),
    ),
  },
  { ...closed, $id: 'PlayerRequest' },
)

export const DocumentReference = personal('document', text(256))

export const KycSubmission = Type.Object(
  { id: Id, documentType: text(64), reference: DocumentReference, submittedAt: Timestamp },
  { ...closed, $id: 'KycSubmission' },
)

export const Kyc = Type.Object(
  {
    playerId: Id,
    kycStatus: KycStatus,
    submissions: Type.Array(KycSubmission, {
      description: 'Most recent first: at most the last 100, and fewer when their references are very long (64 KiB).',
      maxItems: 100,
    }),
    decidedAt: Nullable(Timestamp),
    reason: Nullable(Note),
  },
  { ...closed, $id: 'Kyc' },
)
export type Kyc = Static<typeof Kyc>

/**
 * What a decision has changed: the reply to it, and its event. Both are stored, the event several times, so it carries
 * the latest submission and not all of them.
 */
export const KycChange = Type.Object(
  {
    ...Kyc.properties,
    submissions: Type.Array(KycSubmission, {
      description: 'The latest one, if there is any. `GET /players/{playerId}/kyc` has those before it.',
      maxItems: 1,
    }),
  },
  { ...closed, $id: 'KycChange' },
)
export type KycChange = Static<typeof KycChange>

export const KycSubmissionRequest = Type.Object(
  {
    documentType: Type.String({
      pattern: '^[A-Za-z0-9_-]{1,64}$',
      description: 'Kind of document, a label of your own.',
    }),
    reference: personal(
      'document',
      Line({
        minLength: 1,
        maxLength: 256,
        description: 'Your reference to the stored document file.',
      }),
    ),
  },
  { ...closed, $id: 'KycSubmissionRequest' },
)

export const KycSubmissionReceipt = Type.Object(
  { submission: KycSubmission, kycStatus: KycStatus },
  { ...closed, $id: 'KycSubmissionReceipt' },
)

export const Wallet = Type.Object(
  {
    playerId: Id,
    currency: Currency,
    available: text(moneyLengthMax, { pattern: moneyPattern, description: 'The real balance.' }),
    withdrawable: text(moneyLengthMax, { pattern: moneyPattern, description: '`available` minus open withdrawals.' }),
    updatedAt: Timestamp,
  },
  { ...closed, $id: 'Wallet' },
)
export type Wallet = Static<typeof Wallet>

export const LedgerItem = Type.Object(
  {
    id: Id,
    type: LedgerType,
    amount: text(moneyLengthMax, { pattern: moneyPattern, description: 'Signed: the items sum to `available`.' }),
    currency: Currency,
    balanceAfter: Money,
    reference: Type.Object(
      {
        type: text(32, { description: `What caused the entry: ${listOfCauses}.` }),
        id: text(128),
      },
      closed,
    ),
    createdAt: Timestamp,
  },
  { ...closed, $id: 'LedgerItem' },
)
export type LedgerItem = Static<typeof LedgerItem>

export const Deposit = Type.Object(
  {
    id: Id,
    playerId: Id,
    amount: Money,
    currency: Currency,
    method: text(64),
    externalReference: text(128),
    status: DepositStatus,
    failureReason: Nullable(Note),
    createdAt: Timestamp,
    confirmedAt: Nullable(Timestamp),
    failedAt: Nullable(Timestamp),
  },
  { ...closed, $id: 'Deposit' },
)
export type Deposit = Static<typeof Deposit>

export const DepositRequest = Type.Object(
  {
    amount: Amount,
    currency: Currency,
    method: Method,
    externalReference: Line({ minLength: 1, maxLength: 128, description: 'Your payment reference; unique.' }),
  },
  { ...closed, $id: 'DepositRequest' },
)

export const Withdrawal = Type.Object(
  {
    id: Id,
    playerId: Id,
    amount: Money,
    currency: Currency,
    method: text(64),
    destination: personal('destination', text(256)),
    status: WithdrawalStatus,
    reason: Nullable(Note),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    reviewedAt: Nullable(Timestamp),
    paidAt: Nullable(Timestamp),
  },
  { ...closed, $id: 'Withdrawal' },
)
export type Withdrawal = Static<typeof Withdrawal>

export const WithdrawalRequest = Type.Object(
  {
    amount: Amount,
    currency: Currency,
    method: Method,
    destination: personal('destination', Line({ minLength: 1, maxLength: 256, description: 'Payout destination.' })),
  },
  { ...closed, $id: 'WithdrawalRequest' },
)

export const Game = Type.Object(
  {
    id: Id,
    name: text(128),
    provider: text(128),
    category: text(64),
    thumbnailUrl: text(2_048),
    rtp: text(16, { description: 'Return to player in percent, as a decimal string.' }),
    demo: Type.Boolean({ description: 'Whether the game can be opened as a demonstration.' }),
  },
  { ...closed, $id: 'Game' },
)
export type Game = Static<typeof Game>

export const GameSession = Type.Object(
  {
    id: Id,
    playerId: Id,
    gameId: Id,
    mode: oneOf(['demo', 'real']),
    gameUrl: text(2_048, { description: "To be opened in the player's browser, for example in an iframe." }),
    expiresAt: Timestamp,
  },
  { ...closed, $id: 'GameSession' },
)
export type GameSession = Static<typeof GameSession>

export const WebhookTestResult = Type.Object(
  {
    eventId: Id,
    delivered: Type.Boolean({ description: 'Whether the receiver answered 2xx.' }),
    responseStatus: Nullable(Type.Integer()),
    durationMs: Type.Integer(),
    error: Nullable(text(1_000, { description: 'What went wrong, in plain words.' })),
  },
  { ...closed, $id: 'WebhookTestResult' },
)
