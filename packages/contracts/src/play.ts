import { type Static, Type } from '@sinclair/typebox'
import { amountPattern } from './formats.ts'
import { Currency, Id, Money, PathId, Timestamp } from './resources.ts'
import { described, Line, Lines, Nullable, named, oneOf, optional, text } from './schema.ts'

/** The version of the providers' surface, which is published apart from the operators' API. */
export const providerApiVersion = '1.0.0'
export const providerApiPrefix = '/provider/v1'
/** A provider's body names ids and one amount. */
export const providerBodyBytesMax = 8 * 1024

const idOfProvider = (description: string) =>
  Type.String({ pattern: '^[\\x21-\\x7e]{1,128}$', description: `${description} 1 to 128 printable ASCII characters.` })

export const TransactionId = idOfProvider('Your id of the transaction: unique by kind and brand, for ever.')
export const ProviderRoundId = idOfProvider('Your id of the round. Players of one live table may share it.')
const BetTransactionId = idOfProvider('The `transactionId` of the bet that it belongs to.')
const ProviderTime = described(Timestamp, 'When it happened by your clock. It is kept, and decides nothing.')
const DetailsUrl = Type.String({
  pattern: '^https://[\\x21-\\x7e]{1,500}$',
  description: 'A page of yours that shows the round to our support.',
})
/** Zero is an amount here: a round may be lost, and a round may be free. */
const AmountOrZero = Type.String({ pattern: amountPattern, maxLength: 16 })
const RoundEnds = Type.Boolean({ description: 'No more bets come in this round: it is closed with this.' })

/** What a bet and a spin have in common. */
const betFields = {
  transactionId: TransactionId,
  sessionId: described(PathId, 'The session of the launch.'),
  playerId: described(PathId, 'The player of the session.'),
  roundId: ProviderRoundId,
  gameId: described(PathId, 'The game of the session.'),
  amount: described(AmountOrZero, 'The stake: over zero, but for a free round, which stakes 0.00.'),
  currency: Currency,
  freeRound: Type.Optional(Type.Boolean({ description: 'A round that costs the player nothing: `amount` is 0.00.' })),
  providerTime: Type.Optional(ProviderTime),
}

export const BetRequest = named('BetRequest', { ...betFields, roundEnds: Type.Optional(RoundEnds) })
export type BetRequest = Static<typeof BetRequest>

export const SpinRequest = named('SpinRequest', {
  ...betFields,
  win: described(AmountOrZero, 'What the spin won; 0.00 when it lost.'),
  detailsUrl: Type.Optional(DetailsUrl),
})
export type SpinRequest = Static<typeof SpinRequest>

export const winKinds = ['win', 'jackpot', 'free_round', 'promotion'] as const
export const WinKind = oneOf(winKinds, {
  description: 'Where the money comes from.',
  meanings: {
    win: 'the result of a stake',
    jackpot: 'a jackpot, which is paid from its pool',
    free_round: 'the result of a round that staked nothing',
    promotion: 'a tournament or another prize; it needs no round',
  },
})
export type WinKind = Static<typeof WinKind>

export const WinRequest = named('WinRequest', {
  transactionId: TransactionId,
  playerId: described(PathId, 'The player who wins.'),
  roundId: optional(ProviderRoundId, 'The round of the bet; only a `promotion` may do without.'),
  amount: described(AmountOrZero, 'Decimal string with at most 2 decimals; it may be 0.00.'),
  currency: Currency,
  kind: optional(WinKind, 'Where the money comes from; `win` when absent.'),
  betTransactionId: Type.Optional(BetTransactionId),
  campaignId: Type.Optional(Line({ minLength: 1, maxLength: 128, description: 'Of a promotion or of free rounds.' })),
  roundEnds: Type.Optional(RoundEnds),
  detailsUrl: Type.Optional(DetailsUrl),
  providerTime: Type.Optional(ProviderTime),
})
export type WinRequest = Static<typeof WinRequest>

export const RollbackRequest = named('RollbackRequest', {
  transactionId: described(TransactionId, 'Your id of the rollback; it may be that of the bet.'),
  betTransactionId: BetTransactionId,
  playerId: described(PathId, 'The player of the bet.'),
  roundId: ProviderRoundId,
  reason: Type.Optional(Lines({ minLength: 1, maxLength: 200, description: 'Why, for our support.' })),
  providerTime: Type.Optional(ProviderTime),
})
export type RollbackRequest = Static<typeof RollbackRequest>

export const CloseRequest = named('CloseRequest', {
  playerId: described(PathId, 'The player of the round.'),
  roundId: ProviderRoundId,
  detailsUrl: Type.Optional(DetailsUrl),
})
export type CloseRequest = Static<typeof CloseRequest>

export const roundStates = ['open', 'closed', 'void'] as const
export const RoundState = oneOf(roundStates, {
  description: 'Where the round is.',
  meanings: {
    open: 'more bets, wins and rollbacks may come',
    closed: 'no bet comes any more; a win may',
    void: 'all its stakes were given back',
  },
})
export type RoundState = Static<typeof RoundState>

export const playKinds = ['bet', 'win', 'rollback'] as const
export const PlayKind = oneOf(playKinds, {
  description: 'What the transaction is. A spin is a bet and a win.',
  meanings: { bet: 'a stake', win: 'a credit of any kind', rollback: 'a stake that was taken back' },
})
export type PlayKind = Static<typeof PlayKind>

/** What became of a transaction of a provider. */
export const PlayResult = named('PlayResult', {
  id: described(Id, 'Our id of it; begins with `pla_`.'),
  transactionId: TransactionId,
  roundId: Nullable(ProviderRoundId),
  roundState: Nullable(RoundState),
  applied: Type.Boolean({
    description: 'Whether it moved money. A rollback of a bet that was never taken moves none.',
  }),
  replayed: Type.Boolean({ description: 'It was sent before, and this is what it did then.' }),
  amount: described(Money, 'What it moved: 0.00 where it moved nothing.'),
  balanceAfter: described(Money, 'What the player could stake just after it, the first time.'),
  balance: described(Money, 'What the player can stake now: show this.'),
  createdAt: described(Timestamp, 'When it was booked, the first time.'),
})
export type PlayResult = Static<typeof PlayResult>

/** A spin is one stake and one win under one id. */
export const SpinResult = named('SpinResult', {
  ...PlayResult.properties,
  amount: described(Money, 'The stake.'),
  win: described(Money, 'What it won.'),
})
export type SpinResult = Static<typeof SpinResult>

export const RoundResult = named('RoundResult', {
  roundId: ProviderRoundId,
  roundState: RoundState,
  replayed: Type.Boolean({ description: 'It was closed or void before.' }),
  balance: described(Money, 'What the player can stake now: show this.'),
  closedAt: Nullable(described(Timestamp, 'Since when no bet comes.')),
})

const PlayCurrency = text(3, { description: 'Of the player (ISO 4217).' })

export const playOutcomes = ['posted', 'refused', 'voided', 'noted'] as const
/** What we hold of a transaction. */
export const HeldTransaction = named('HeldTransaction', {
  id: Id,
  kind: PlayKind,
  transactionId: TransactionId,
  outcome: oneOf(playOutcomes, {
    description: 'What became of it.',
    meanings: {
      posted: 'it was booked',
      refused: 'it was refused, and stays so',
      voided: 'a rollback came before the bet, which is not taken any more',
      noted: 'a rollback of a bet that had taken nothing',
    },
  }),
  code: Nullable(text(64, { description: 'Why it was refused.' })),
  rolledBack: Type.Boolean({ description: 'Of a bet: whether its stake was given back.' }),
  playerId: Id,
  roundId: Nullable(ProviderRoundId),
  roundState: Nullable(RoundState),
  betTransactionId: Nullable(TransactionId),
  amount: described(Money, 'What it moved: 0.00 where it moved nothing.'),
  currency: Nullable(PlayCurrency),
  createdAt: Timestamp,
})
export type HeldTransaction = Static<typeof HeldTransaction>

/** A round with its sums, as its provider reads it. */
export const HeldRound = named('HeldRound', {
  roundId: ProviderRoundId,
  playerId: Id,
  gameId: Id,
  state: RoundState,
  currency: PlayCurrency,
  staked: Money,
  won: Money,
  rolledBack: Money,
  openedAt: Timestamp,
  closedAt: Nullable(Timestamp),
})
export type HeldRound = Static<typeof HeldRound>

export const PlaySession = named('PlaySession', {
  sessionId: Id,
  playerId: Id,
  gameId: Id,
  currency: PlayCurrency,
  balance: described(Money, 'What the player can stake now.'),
  state: oneOf(['open', 'expired'], {
    description: 'Whether it takes bets.',
    meanings: { open: 'it takes bets', expired: 'it takes none any more; what was staked is settled' },
  }),
  expiresAt: described(Timestamp, 'When it ends.'),
})
