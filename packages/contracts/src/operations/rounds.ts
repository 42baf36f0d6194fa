import { type Static, Type } from '@sinclair/typebox'
import { exampleBet, examplePlay, sample } from '../examples.ts'
import { get, internal, post, provider, team } from '../operation.ts'
import {
  CloseRequest,
  HeldRound,
  HeldTransaction,
  PlayKind,
  PlayResult,
  ProviderRoundId,
  playOutcomes,
  RollbackRequest,
  RoundResult,
  RoundState,
  SpinRequest,
  SpinResult,
  TransactionId,
  WinKind,
  WinRequest,
} from '../play.ts'
import { Amount, CalendarDate, Currency, Id, Money, Reason, Timestamp } from '../resources.ts'
import { described, listOf, Nullable, named, object, oneOf, optional, pageOf, text } from '../schema.ts'
import { cursorField, seenField } from './fields.ts'
import { stakeRejects } from './play-admission.ts'

/** Who the player was when a stake was judged; the recall shows it. */
export const PlayStanding = object({
  status: text(32),
  kycStatus: text(32),
  dailyLimit: Nullable(Money),
  dayDeposits: Nullable(Money),
  rtp: text(8),
})

export const TeamPlay = object({
  ...HeldTransaction.properties,
  providerId: Id,
  brandId: Id,
  /** Our round; null where none was open. */
  round: Nullable(Id),
  roundOpenedAt: Nullable(Timestamp),
  /** What the provider asked for, also where it moved nothing. */
  requestedAmount: Nullable(Money),
  isSpin: Type.Boolean(),
  winKind: Nullable(WinKind),
  sessionId: Nullable(Id),
  gameId: Nullable(Id),
  campaignId: Nullable(text(128)),
  detailsUrl: Nullable(text(1024)),
  providerTime: Nullable(Timestamp),
  balanceBefore: Money,
  balanceAfter: Money,
  /** The ledger entry that it made; null: it made none. */
  entryId: Nullable(Id),
  standing: Nullable(PlayStanding),
  // The release before does not say it.
  refusedDetails: Type.Optional(
    Nullable(text(1_000, { description: 'Of a refusal: what was said with its code, as JSON.' })),
  ),
  requestId: text(128),
  bodyDigest: text(64, { description: 'SHA-256 of the body that the provider signed, in hex.' }),
})
export type TeamPlay = Static<typeof TeamPlay>

export const TeamRound = object({
  id: Id,
  providerId: Id,
  brandId: Id,
  ...HeldRound.properties,
  closedBy: Nullable(text(32)),
  detailsUrl: Nullable(text(1024)),
  plays: Type.Integer(),
})
export type TeamRound = Static<typeof TeamRound>

const sums = {
  providerId: Id,
  currency: Currency,
  rounds: Type.Integer(),
  bets: Money,
  wins: Money,
  rollbacks: Money,
  jackpots: Money,
  promotions: Money,
  ggr: described(Money, 'Bets without wins and rollbacks. Jackpots and promotions stand beside it.'),
}
/**
 * What a provider's play did in a brand on a day of the brand. What the team reversed counts on the day of the reversal: a
 * stake among the rollbacks, what was paid against its own kind. So GGR is what the provider's account of play gained.
 */
export const PlaySums = object(sums)
export type PlaySums = Static<typeof PlaySums>
export const PlayDay = object({ brandId: Id, day: CalendarDate, ...sums })
export type PlayDay = Static<typeof PlayDay>

/** A win that waits for two people. */
export const HeldWin = object({
  providerId: Id,
  brandId: Id,
  transactionId: TransactionId,
  playerId: Id,
  roundId: Nullable(ProviderRoundId),
  amount: Money,
  currency: Currency,
  firstAt: Timestamp,
  releasedAt: Nullable(Timestamp),
})

const { gameId: _gameId, sessionId: _sessionId, ...paid } = exampleBet
const shownRound = { providerId: Id, brandId: Id, state: RoundState, staked: Money, won: Money, currency: Currency }

const ofProvider = { providerId: Type.Optional(Id), brandId: Type.Optional(Id) }
const page = { cursor: cursorField, limit: Type.Integer({ minimum: 1, maximum: 1000 }) }
/** Whose rounds and plays a list shows. */
const whose = {
  playerId: Type.Optional(Id),
  brandId: Type.Optional(Id),
  brandIds: Type.Optional(
    Type.Array(Id, { maxItems: 1_000, description: 'Of any of these: a page shows one environment.' }),
  ),
  providerId: Type.Optional(Id),
}

/** Rounds and plays: what providers stake, win and give back, each decided under the lock of the player's account. */
export const rounds = {
  creditWin: provider.direct({
    http: post('/wins'),
    tag: 'Play',
    summary: 'Credit a win',
    description:
      'Never refused for what the player, the session or the operator has become. A win of 0.00 tells that the round was lost.',
    body: WinRequest,
    reply: PlayResult,
    rejects: [
      'PLAYER_NOT_FOUND',
      'CURRENCY_MISMATCH',
      'TRANSACTION_CONFLICT',
      'BET_REFUSED',
      'ROUND_VOIDED',
      'BET_NOT_FOUND',
      'WIN_HELD',
    ],
    example: {
      body: { ...paid, transactionId: 'win-7002', amount: '5.00', betTransactionId: 'bet-7001', roundEnds: true },
      reply: {
        ...{ ...examplePlay, transactionId: 'win-7002', roundState: 'closed', amount: '5.00' },
        ...{ balanceAfter: '153.00', balance: '153.00', createdAt: '2026-03-02T12:06:03.000Z' },
      },
    },
  }),

  rollbackBet: provider.direct({
    http: post('/rollbacks'),
    tag: 'Play',
    summary: 'Take a bet back',
    description:
      'Send it when the outcome of a bet stays unknown, until it is answered. A bet that comes after its rollback is not taken.',
    body: RollbackRequest,
    reply: PlayResult,
    rejects: ['PLAYER_NOT_FOUND', 'TRANSACTION_CONFLICT', 'NOT_A_BET', 'BET_ALREADY_SETTLED'],
    example: {
      body: {
        transactionId: 'rollback-7003',
        betTransactionId: 'bet-7001',
        playerId: paid.playerId,
        roundId: paid.roundId,
      },
      reply: {
        ...{ ...examplePlay, transactionId: 'rollback-7003', roundState: 'void' },
        ...{ balanceAfter: '150.00', balance: '150.00', createdAt: '2026-03-02T12:06:05.000Z' },
      },
    },
  }),

  closeRound: provider.direct({
    http: post('/rounds/close'),
    tag: 'Play',
    summary: 'Close a round',
    description: 'No bet comes any more. A win that was overtaken is still taken.',
    body: CloseRequest,
    reply: RoundResult,
    rejects: ['PLAYER_NOT_FOUND', 'BET_NOT_FOUND'],
    example: {
      body: { playerId: sample.playerId, roundId: 'round-501' },
      reply: {
        roundId: 'round-501',
        roundState: 'closed',
        replayed: false,
        balance: '148.00',
        closedAt: '2026-03-02T12:06:04.000Z',
      },
    },
  }),

  readTransaction: provider.query({
    http: get('/transactions/{kind}/{transactionId}'),
    tag: 'Play',
    summary: 'Read what we hold of a transaction',
    params: object({ kind: PlayKind, transactionId: TransactionId }),
    reply: HeldTransaction,
    rejects: ['TRANSACTION_NOT_FOUND'],
    example: {
      params: { kind: 'bet', transactionId: 'bet-7001' },
      reply: {
        id: sample.playId,
        kind: 'bet',
        transactionId: 'bet-7001',
        outcome: 'posted',
        code: null,
        rolledBack: false,
        playerId: sample.playerId,
        roundId: 'round-501',
        roundState: 'open',
        betTransactionId: null,
        amount: '2.00',
        currency: 'BRL',
        createdAt: '2026-03-02T12:06:00.000Z',
      },
    },
  }),

  listHeldRounds: provider.query({
    http: get('/rounds'),
    tag: 'Play',
    summary: 'List rounds: by your id, or of a day',
    description: 'With `roundId`: that of each player in it. With `day`: those opened on that day of the brand.',
    query: object({
      roundId: Type.Optional(ProviderRoundId),
      day: Type.Optional(CalendarDate),
      cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'From the page before.' })),
    }),
    reply: named('HeldRoundPage', {
      data: Type.Array(HeldRound, { maxItems: 200, description: 'The rounds of this page.' }),
      nextCursor: Nullable(text(256, { description: 'For the next page; null at the end.' })),
    }),
    rejects: ['VALIDATION_ERROR'],
    example: {
      query: { roundId: 'round-501' },
      reply: {
        data: [
          {
            roundId: 'round-501',
            playerId: sample.playerId,
            gameId: 'wallet-reels',
            state: 'closed',
            currency: 'BRL',
            staked: '2.00',
            won: '5.00',
            rolledBack: '0.00',
            openedAt: '2026-03-02T12:06:00.000Z',
            closedAt: '2026-03-02T12:06:03.000Z',
          },
        ],
        nextCursor: null,
      },
    },
  }),

  /**
   * Books a stake, and with `win` the whole spin, or keeps that it was refused. Idempotent by its transaction, for ever: what
   * was decided the first time is answered, whatever `refusedWith` says now.
   */
  stake: internal.direct({
    callers: ['players'],
    summary: 'Book a stake, or refuse it',
    body: object({
      bet: object({
        ...SpinRequest.properties,
        win: Type.Optional(SpinRequest.properties.win),
        roundEnds: Type.Optional(Type.Boolean()),
      }),
      /** Who may play has refused it: with which code and details, as JSON. */
      refusedWith: Type.Optional(object({ code: text(64), details: Type.Optional(text(200)) })),
      standing: Nullable(PlayStanding),
    }),
    reply: SpinResult,
    rejects: [...stakeRejects, 'WIN_HELD'],
  }),

  listRounds: team.query({
    roles: ['finance', 'compliance', 'support', 'auditor'],
    summary: 'List rounds, newest first',
    body: object({
      roundId: optional(text(128), "Our id (rnd_…), or the provider's."),
      transactionId: optional(text(128), "Our id of a play (pla_…), or the provider's of a transaction."),
      entryId: optional(Id, 'Of the ledger item (led_…) or the transfer (trf_…) of a play.'),
      ...whose,
      state: Type.Optional(RoundState),
      openedBefore: optional(Timestamp, 'Opened before this time.'),
      ...page,
    }),
    reply: pageOf(TeamRound),
    rejects: ['VALIDATION_ERROR'],
  }),

  /** Each play of a round, refusals too, in the order in which they were decided. */
  recallRound: team.query({
    roles: ['finance', 'compliance', 'support', 'auditor'],
    summary: 'Recall a round: each play in order',
    body: object({
      roundId: described(Id, 'Our id (rnd_…).'),
      ...page,
    }),
    reply: object({ round: TeamRound, ...pageOf(TeamPlay).properties }),
    rejects: ['VALIDATION_ERROR', 'ROUND_NOT_FOUND'],
  }),

  /** What became of transactions, also of stakes that were refused before a round was open. */
  listPlays: team.query({
    roles: ['finance', 'compliance', 'support', 'auditor'],
    summary: 'List plays, newest first',
    description: 'Of a player or a transaction all of them; otherwise those that were refused.',
    body: object({
      transactionId: optional(
        text(128),
        "Our id of a play (pla_…) or of a refused request (req_…), or the provider's.",
      ),
      ...whose,
      outcome: Type.Optional(oneOf(playOutcomes, { description: 'What became of it.' })),
      ...page,
    }),
    reply: pageOf(TeamPlay),
    rejects: ['VALIDATION_ERROR'],
  }),

  /** How many rounds are open, and since when the oldest. */
  countOpenRounds: team.query({
    roles: ['finance', 'compliance', 'support', 'auditor'],
    summary: 'Count the rounds that stay open, by provider and brand',
    description: 'Of the 10,000 that were opened first.',
    body: object({ openedBefore: Type.Optional(Timestamp) }),
    reply: listOf(1_000, {
      providerId: Id,
      brandId: Id,
      open: Type.Integer({ minimum: 0 }),
      oldestAt: Nullable(Timestamp),
    }),
  }),

  voidRound: team.direct({
    roles: ['finance'],
    freshLogin: 'always',
    twoPeople: 'in production',
    summary: 'Void an open round: all its stakes are given back',
    body: object({ roundId: Id, ...seenField(shownRound), reason: Reason }),
    reply: TeamRound,
    rejects: ['ROUND_NOT_FOUND', 'NOT_AS_SEEN', 'ROUND_NOT_OPEN', 'ROUND_HAS_WINS'],
  }),

  endRound: team.direct({
    roles: ['finance'],
    freshLogin: 'always',
    twoPeople: 'in production',
    summary: 'Close an open round as it is: its stakes are lost',
    body: object({ roundId: Id, ...seenField(shownRound), reason: Reason }),
    reply: TeamRound,
    rejects: ['ROUND_NOT_FOUND', 'NOT_AS_SEEN', 'ROUND_NOT_OPEN'],
  }),

  listHeldWins: team.query({
    roles: ['finance', 'compliance', 'support', 'auditor'],
    summary: 'List the wins that wait for two people',
    body: object({ ...ofProvider, transactionId: Type.Optional(TransactionId), ...page }),
    reply: pageOf(HeldWin),
    rejects: ['VALIDATION_ERROR'],
  }),

  releaseWin: team.command({
    roles: ['finance'],
    freshLogin: 'always',
    twoPeople: 'in production',
    summary: 'Release a held win: it is paid when the provider sends it again',
    body: object({
      providerId: Id,
      brandId: Id,
      transactionId: TransactionId,
      ...seenField({ playerId: Id, amount: Money, currency: Currency }),
      reason: Reason,
    }),
    reply: HeldWin,
    rejects: ['HELD_WIN_NOT_FOUND', 'NOT_AS_SEEN'],
  }),

  listWinLimits: team.query({
    roles: ['finance', 'compliance', 'support', 'auditor', 'integration'],
    summary: 'List what one win of a provider may be without two people',
    body: object({ ...ofProvider, ...page }),
    reply: object({
      ...pageOf(object({ providerId: Id, brandId: Id, maxWin: Money })).properties,
      otherwise: described(Money, 'Where nothing else was set.'),
    }),
    rejects: ['VALIDATION_ERROR'],
  }),

  setWinLimit: team.command({
    roles: ['finance'],
    freshLogin: 'always',
    twoPeople: 'in production',
    summary: 'Set what one win of a provider in a brand may be without two people',
    body: object({
      providerId: Id,
      brandId: Id,
      maxWin: Amount,
      ...seenField({ maxWin: described(Money, 'What held before.') }),
      reason: Reason,
    }),
    reply: object({ providerId: Id, brandId: Id, maxWin: Money }),
    rejects: ['VALIDATION_ERROR', 'NOT_AS_SEEN'],
  }),

  listPlayDays: team.query({
    roles: ['finance', 'compliance', 'auditor'],
    summary: 'Sum play by day: stakes, wins, rollbacks and GGR, by provider and currency',
    body: object({
      brandId: Id,
      from: described(CalendarDate, 'A day of the brand, included.'),
      to: described(CalendarDate, 'Included; at most 31 days later.'),
    }),
    reply: object({ data: Type.Array(PlayDay, { maxItems: 1_000 }) }),
    rejects: ['VALIDATION_ERROR'],
    timeoutMs: 30_000,
  }),

  /** A page of a brand's plays of a day, oldest first; the sums are those of the ledger, in every page. */
  exportPlayDay: team.query({
    roles: ['finance', 'auditor'],
    summary: "Export a brand's plays of a day",
    body: object({
      brandId: Id,
      day: CalendarDate,
      ...page,
    }),
    reply: object({ ...pageOf(TeamPlay).properties, sums: Type.Array(PlaySums, { maxItems: 200 }) }),
    rejects: ['VALIDATION_ERROR'],
    timeoutMs: 30_000,
  }),
}
