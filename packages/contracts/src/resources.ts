import './formats.ts'
import { type Static, type TString, Type } from '@sinclair/typebox'
import { amountPattern, moneyPattern } from './formats.ts'
import { personal } from './personal.ts'
import { described, Line, Lines, Nullable, named, object, record, text } from './schema.ts'
import {
  DepositStatus,
  EnvironmentName,
  GameMode,
  KycStatus,
  LedgerType,
  ledgerCauses,
  PlayerStatus,
  WithdrawalStatus,
} from './statuses.ts'

export * from './statuses.ts'

/** The version of the public API, reported by GET /me and in every event. */
export const apiVersion = '1.1.0'
export const apiPrefix = '/api/v1'

// A symbol, so that no published document shows it. Copies of the schema keep it, whatever their description.
const idMark = Symbol.for('backoffice.id')
export const Id: TString = Object.assign(
  Type.String({ minLength: 1, maxLength: 64, description: 'Opaque identifier.' }),
  { [idMark]: true },
)
export const isId = (schema: object): boolean => idMark in schema
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
export const reasonLength = { minLength: 1, maxLength: 500 }
/** A reason that the operator reads with the record. */
export const PublicReason = personal('note', Lines({ ...reasonLength, description: 'Why; shown with the record.' }))
/** Why a person of the team did something; only the team reads it. */
export const Reason = personal('note', Lines({ ...reasonLength, description: 'Why; kept in the audit trail.' }))
/** What somebody wrote for a reason, as records show it. */
export const Note = personal('note', text(500))

export const Method = Line({ minLength: 1, maxLength: 64, description: 'Payment-method label chosen by the operator.' })

const listOfCauses = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(new Set(Object.values(ledgerCauses)))

export const Me = named('Me', {
  operator: object(
    {
      id: described(Id, 'You, the operator.'),
      name: text(64, { description: 'Your name, as our team registered it.' }),
      environment: described(EnvironmentName, 'Where your requests belong; the key chooses it.'),
    },
    { description: 'Whose credential it is.' },
  ),
  brand: object(
    {
      id: described(Id, 'The brand whose data the key reaches.'),
      name: text(100, { description: 'Its name.' }),
      currency: described(Currency, 'Its currency (ISO 4217): that of every player you register.'),
      isSandbox: Type.Boolean({ description: 'True for the test brand, whose data is isolated from production.' }),
    },
    { description: 'The brand that the key works on.' },
  ),
  apiVersion: text(32, { description: 'Version of the API, a semantic version.' }),
})

export const PersonName = personal('name', text(200, { description: 'Full name.' }))

export const Player = record(
  'Player',
  'A player of your brand. Withdrawals do not depend on its status: nobody is kept from their money.',
  {
    id: personal('player', described(Id, 'Our id of the player.')),
    externalId: Nullable(personal('externalId', text(128, { description: 'Your own id of the player.' }))),
    name: PersonName,
    email: personal('email', text(254, { description: 'E-mail address.' })),
    cpf: personal('cpf', Type.String({ pattern: '^\\d{11}$', description: 'CPF, digits only.' })),
    phone: Nullable(personal('phone', text(16, { description: 'Phone number; null if you sent none.' }))),
    birthDate: Nullable(personal('birthDate', described(CalendarDate, 'Birth date, YYYY-MM-DD.'))),
    status: PlayerStatus,
    kycStatus: KycStatus,
    currency: described(Currency, 'Currency of the account (ISO 4217).'),
    createdAt: described(Timestamp, 'When the player was registered.'),
  },
)
export type Player = Static<typeof Player>

const externalId = { minLength: 1, maxLength: 128, description: "The operator's own identifier; unique per brand." }
/** By which a player is looked up: it may be as it was accepted long ago, with control characters. */
export const ExternalId = personal('externalId', Type.String(externalId))

export const PlayerRequest = named('PlayerRequest', {
  externalId: personal('externalId', Line(externalId)),
  name: personal('name', Line({ format: 'visible', minLength: 2, maxLength: 200, description: 'Full name.' })),
  email: personal('email', Type.String({ format: 'email', maxLength: 254, description: 'E-mail address.' })),
  cpf: personal('cpf', Type.String({ format: 'cpf', maxLength: 14, description: 'With or without punctuation.' })),
  phone: Type.Optional(
    personal('phone', Type.String({ pattern: '^\\+?\\d{10,15}$', description: 'Optional +, then 10 to 15 digits.' })),
  ),
  birthDate: personal(
    'birthDate',
    Type.String({ format: 'date', description: 'YYYY-MM-DD; the player must be over 18.' }),
  ),
})

export const DocumentReference = personal(
  'document',
  text(256, { description: 'Your reference to the stored document file.' }),
)

export const KycSubmission = record('KycSubmission', 'A document that you submitted.', {
  id: described(Id, 'The submission.'),
  documentType: text(64, { description: 'Kind of document, as you labelled it.' }),
  reference: DocumentReference,
  submittedAt: described(Timestamp, 'When you submitted it.'),
})

export const Kyc = record('Kyc', "A player's identity check.", {
  playerId: described(Id, 'The player.'),
  kycStatus: KycStatus,
  submissions: Type.Array(KycSubmission, {
    description: 'Most recent first: at most the last 100, and fewer when their references are very long (64 KiB).',
    maxItems: 100,
  }),
  decidedAt: Nullable(described(Timestamp, 'When the team last decided; null before the first decision.')),
  reason: Nullable(described(Note, 'Why it decided so, if it said; for you to act on.')),
})
export type Kyc = Static<typeof Kyc>

/**
 * What a decision has changed: the reply to it, and its event. Both are stored, the event several times, so it carries
 * the latest submission and not all of them.
 */
export const KycChange = record('KycChange', "A player's identity check after a decision.", {
  ...Kyc.properties,
  submissions: Type.Array(KycSubmission, {
    description: 'The latest one, if there is any. `GET /players/{playerId}/kyc` has those before it.',
    maxItems: 1,
  }),
})
export type KycChange = Static<typeof KycChange>

export const KycSubmissionRequest = named('KycSubmissionRequest', {
  documentType: Line({ minLength: 1, maxLength: 64, description: 'Kind of document, a label of your own.' }),
  reference: personal(
    'document',
    Line({ minLength: 1, maxLength: 256, description: 'Your reference to the stored document file.' }),
  ),
})

export const KycSubmissionReceipt = named('KycSubmissionReceipt', { submission: KycSubmission, kycStatus: KycStatus })

export const Wallet = record('Wallet', "A player's balance.", {
  playerId: described(Id, 'The player.'),
  currency: described(Currency, 'Currency of the amounts (ISO 4217).'),
  available: described(Money, 'The real balance.'),
  withdrawable: described(Money, '`available` minus withdrawals that are `under_review` or `approved`.'),
  updatedAt: described(Timestamp, 'When `available` or `withdrawable` last changed.'),
})
export type Wallet = Static<typeof Wallet>

export const LedgerItem = record('LedgerItem', 'One entry of the ledger (extrato). Entries never change.', {
  id: described(Id, 'The entry; begins with `led_`.'),
  type: LedgerType,
  amount: described(Money, 'Signed: the items sum to `available`.'),
  currency: described(Currency, 'Currency of the amounts (ISO 4217).'),
  balanceAfter: described(Money, '`available` after this entry.'),
  reference: object(
    {
      type: text(32, { description: `What caused the entry: ${listOfCauses}.` }),
      id: text(128, {
        description: 'Id of the deposit, the withdrawal or the round of a game; of a correction, our reference.',
      }),
    },
    { description: 'What the entry belongs to.' },
  ),
  createdAt: described(Timestamp, 'When it was entered.'),
})
export type LedgerItem = Static<typeof LedgerItem>

export const Deposit = record('Deposit', 'A deposit. You collect the payment; we credit the wallet on confirm.', {
  id: described(Id, 'The deposit.'),
  playerId: described(Id, 'The player whose wallet it credits.'),
  amount: described(Money, 'What the wallet is credited with on confirm.'),
  currency: described(Currency, 'Currency of the amount (ISO 4217).'),
  method: text(64, { description: 'Your payment-method label.' }),
  externalReference: text(128, { description: 'Your payment reference.' }),
  status: DepositStatus,
  failureReason: Nullable(described(Note, 'Why it failed, if somebody said.')),
  createdAt: described(Timestamp, 'When you created it.'),
  confirmedAt: Nullable(described(Timestamp, 'When it was confirmed; null until then.')),
  failedAt: Nullable(described(Timestamp, 'When it failed; null unless it did.')),
})
export type Deposit = Static<typeof Deposit>

export const DepositRequest = named('DepositRequest', {
  amount: Amount,
  currency: Currency,
  method: Method,
  externalReference: Line({ minLength: 1, maxLength: 128, description: 'Your payment reference; unique.' }),
})

export const Withdrawal = record('Withdrawal', 'A request to pay a player out, which our team reviews and pays.', {
  id: described(Id, 'The withdrawal.'),
  playerId: described(Id, 'The player who is paid.'),
  amount: described(Money, 'What is paid out.'),
  currency: described(Currency, 'Currency of the amount (ISO 4217).'),
  method: text(64, { description: 'Your payment-method label.' }),
  destination: personal('destination', text(256, { description: 'Where it is paid to.' })),
  status: WithdrawalStatus,
  reason: Nullable(described(Note, 'Why it has this status, if somebody said.')),
  createdAt: described(Timestamp, 'When you requested it.'),
  updatedAt: described(Timestamp, 'When its status last changed.'),
  reviewedAt: Nullable(described(Timestamp, 'When the team approved or rejected it; null until then.')),
  paidAt: Nullable(described(Timestamp, 'When it was paid; null unless it was.')),
})
export type Withdrawal = Static<typeof Withdrawal>

export const WithdrawalRequest = named('WithdrawalRequest', {
  amount: Amount,
  currency: Currency,
  method: Method,
  destination: personal('destination', Line({ minLength: 1, maxLength: 256, description: 'Payout destination.' })),
})

export const Game = record('Game', 'A game of the catalogue.', {
  id: described(Id, 'The game: the `gameId` of a session.'),
  name: text(128, { description: 'Its name, for players.' }),
  provider: text(128, { description: 'Who makes it.' }),
  category: text(64, { description: 'Kind of game, for example `slots`.' }),
  thumbnailUrl: text(2_048, { description: 'Address of a picture.' }),
  rtp: text(16, { description: 'Return to player in percent, as a decimal string.' }),
  demo: Type.Boolean({ description: 'Whether the game can be opened as a demonstration.' }),
})
export type Game = Static<typeof Game>

export const GameSession = named('GameSession', {
  id: described(Id, 'The session.'),
  playerId: described(Id, 'The player.'),
  gameId: described(Id, 'The game.'),
  mode: GameMode,
  gameUrl: text(2_048, {
    description: "To be opened in the player's browser, for example in an iframe. It carries a token: do not log it.",
  }),
  expiresAt: described(Timestamp, 'Until when `gameUrl` can be opened.'),
})
export type GameSession = Static<typeof GameSession>

export const WebhookTestResult = named('WebhookTestResult', {
  eventId: described(Id, 'Id of the test event: its `X-Webhook-Id`.'),
  delivered: Type.Boolean({ description: 'Whether the receiver answered 2xx.' }),
  responseStatus: Nullable(Type.Integer({ description: 'Status that it answered; null if it did not answer.' })),
  durationMs: Type.Integer({ description: 'How long the attempt took, in milliseconds.' }),
  error: Nullable(text(1_000, { description: 'What went wrong, in plain words; null if nothing did.' })),
})
