import { type Static, Type } from '@sinclair/typebox'
import { sample } from '../examples.ts'
import { signedAmountPattern } from '../formats.ts'
import { get, internal, operator, team } from '../operation.ts'
import { personal } from '../personal.ts'
import {
  Amount,
  Currency,
  EnvironmentName,
  Id,
  LedgerItem,
  Money,
  Note,
  Reason,
  Timestamp,
  Wallet,
} from '../resources.ts'
import { arrayOf, described, Nullable, named, object, optional, pageOf, text } from '../schema.ts'
import { PlayerPath, playerExport, seenField } from './fields.ts'
import { walletFigures } from './figures.ts'
import { rounds } from './rounds.ts'
import { service } from './runtime.ts'

export const HoldState = Type.Union([Type.Literal('open'), Type.Literal('captured'), Type.Literal('released')])

/**
 * The reference of a transfer by the team. The ids of deposits and withdrawals are excluded, because they are the
 * references of their own transfers.
 */
const TransferReference = Type.String({
  pattern: '^(?!dep_|wdr_|pla_|rnd_)[A-Za-z0-9_.:/-]{1,128}$',
  description: 'Unique per brand, for ever: the same reference never moves money twice.',
})

/** A ledger entry with the transfer behind it. */
export const TeamEntry = object({
  ...LedgerItem.properties,
  playerId: Id,
  transferId: Id,
  reversesTransferId: Nullable(Id),
  /** Of a correction: why it was asked for. */
  reason: Nullable(Note),
  /** Who asked for a correction. */
  by: Nullable(personal('staff', text(254))),
  /** Who agreed to it, where it took two. */
  approvedBy: Nullable(personal('staff', text(254))),
  effectiveAt: Timestamp,
})
export type TeamEntry = Static<typeof TeamEntry>

/** `replayed`: the reference was posted before, and this is what it did then. */
const PostedTransfer = object({ ...TeamEntry.properties, brandId: Id, replayed: Type.Boolean() })

const creditFields = { playerId: Id, depositId: Id, amount: Amount, effectiveAt: Timestamp }

/** Accounts, holds and the ledger: the only place where a balance changes. */
export const wallet = service('wallet', {
  getWallet: operator.query({
    http: get('/players/{playerId}/wallet'),
    tag: 'Wallet',
    summary: "Read a player's wallet",
    params: PlayerPath,
    reply: Wallet,
    rejects: ['PLAYER_NOT_FOUND'],
    example: {
      params: { playerId: sample.playerId },
      reply: {
        playerId: sample.playerId,
        currency: 'BRL',
        available: '150.00',
        withdrawable: '110.00',
        updatedAt: '2026-03-02T12:05:00.000Z',
      },
    },
  }),

  listTransactions: operator.query({
    http: get('/players/{playerId}/transactions'),
    tag: 'Wallet',
    summary: "List a player's ledger",
    description:
      'Most recent first. Pass the previous `nextCursor` as `cursor` for the next page; null means no more pages.',
    params: PlayerPath,
    query: object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Entries on a page.' })),
      cursor: Type.Optional(
        Type.String({ minLength: 1, maxLength: 512, description: 'Opaque, from the previous page.' }),
      ),
    }),
    reply: named('LedgerPage', {
      data: Type.Array(LedgerItem, { maxItems: 200, description: 'Most recent first.' }),
      nextCursor: Nullable(text(512, { description: 'Opaque; null means no more pages.' })),
    }),
    rejects: ['VALIDATION_ERROR', 'PLAYER_NOT_FOUND'],
    example: {
      params: { playerId: sample.playerId },
      query: { limit: '50' },
      reply: {
        data: [
          {
            id: sample.ledgerItemId,
            type: 'DEPOSIT',
            amount: '150.00',
            currency: 'BRL',
            balanceAfter: '150.00',
            reference: { type: 'deposit', id: sample.depositId },
            createdAt: '2026-03-02T12:02:31.400Z',
          },
        ],
        nextCursor: null,
      },
    },
  }),

  /** Opens the account of a new player; repeating it changes nothing. */
  openAccount: internal.direct({
    callers: ['players'],
    summary: "Open a player's account",
    body: object({ playerId: Id }),
    reply: object({ playerId: Id }),
  }),

  /** Credits a player. Idempotent by deposit, for ever; opens a missing account; is never refused. */
  creditAccount: internal.direct({
    callers: ['payments'],
    summary: "Credit a player's account with a confirmed deposit",
    body: object(creditFields),
    reply: object({ transferId: Id }),
  }),

  /**
   * Refuses a credit for ever, if the account cannot take it: the same credit, sent later, then does nothing. A credit
   * that is posted, or that the account can take, stays as it is.
   */
  refuseCredit: internal.direct({
    callers: ['payments'],
    summary: "Refuse a deposit's credit that can never be done",
    body: object({ ...creditFields, reason: Reason }),
    reply: object({ state: Type.Union([Type.Literal('refused'), Type.Literal('posted'), Type.Literal('possible')]) }),
  }),

  /** Reserves money for a withdrawal; only the state `open` means that it is reserved. */
  openHold: internal.direct({
    callers: ['payments'],
    summary: 'Reserve money for a withdrawal',
    body: object({ playerId: Id, withdrawalId: Id, amount: Amount }),
    reply: object({ state: HoldState }),
    rejects: ['INSUFFICIENT_FUNDS'],
  }),

  /** Debits what a withdrawal reserved: the hold is closed and the ledger entry written in one transaction. */
  captureHold: internal.direct({
    callers: ['payments'],
    summary: 'Debit a paid withdrawal',
    body: object({ playerId: Id, withdrawalId: Id, effectiveAt: Timestamp }),
    reply: object({ transferId: Id }),
  }),

  /** Gives back what a withdrawal reserved; for an unknown withdrawal it leaves a released tombstone that refuses a late hold. */
  releaseHold: internal.direct({
    callers: ['payments'],
    summary: 'Release the money of a withdrawal',
    body: object({ playerId: Id, withdrawalId: Id }),
    reply: object({ state: HoldState }),
  }),

  /** The balance beside a withdrawal in the team's review queue. */
  readBalance: internal.query({
    callers: ['payments'],
    summary: "Read a player's balance",
    body: object({ playerId: Id }),
    reply: object({ available: Money, withdrawable: Money }),
    rejects: ['PLAYER_NOT_FOUND'],
  }),

  /** What stands against anonymising a player: money, how long ago the last of it moved, and rounds that may still be won. */
  readAccount: internal.query({
    callers: ['players'],
    summary: "Read a player's balance and its last change",
    body: object({ playerId: Id }),
    reply: object({
      available: Money,
      withdrawable: Money,
      updatedAt: Timestamp,
      openRounds: Type.Integer({ minimum: 0 }),
    }),
    rejects: ['PLAYER_NOT_FOUND'],
  }),

  /** Idempotent by its reference; the reference of a refused adjustment stays refused. */
  adjustWallet: team.direct({
    roles: ['finance'],
    freshLogin: 'always',
    twoPeople: 'in production',
    summary: "Correct a player's balance with a new ledger entry",
    body: object({
      playerId: Id,
      amount: Type.String({
        pattern: signedAmountPattern,
        description: 'Signed: a negative amount takes money from the player.',
      }),
      reference: TransferReference,
      ...seenField({ operatorId: Id, environment: EnvironmentName, currency: Currency }),
      reason: Reason,
    }),
    reply: PostedTransfer,
    rejects: ['PLAYER_NOT_FOUND', 'NOT_AS_SEEN', 'TRANSFER_CONFLICT', 'INSUFFICIENT_FUNDS'],
  }),

  /** Takes a transfer back with a new one between the same accounts; each transfer at most once. */
  reverseTransfer: team.direct({
    roles: ['finance'],
    freshLogin: 'always',
    twoPeople: 'in production',
    summary: 'Reverse a transfer with a new ledger entry',
    body: object({
      playerId: Id,
      transferId: described(Id, 'A transfer (trf_…) of the player, or the ledger item (led_…) that it made.'),
      ...seenField({
        type: LedgerItem.properties.type,
        amount: described(LedgerItem.properties.amount, 'Signed, as it is in the ledger.'),
        currency: Currency,
      }),
      reference: TransferReference,
      reason: Reason,
    }),
    reply: PostedTransfer,
    rejects: [
      'TRANSFER_NOT_FOUND',
      'NOT_AS_SEEN',
      'TRANSFER_CONFLICT',
      'TRANSFER_ALREADY_REVERSED',
      'INSUFFICIENT_FUNDS',
    ],
  }),

  ...rounds,

  exportPlayer: playerExport(),

  listEntries: team.query({
    roles: ['finance', 'compliance', 'support', 'auditor'],
    summary: "List a player's ledger entries, newest first",
    body: object({
      playerId: optional(Id, 'Absent only with a transferId: then of the player whose entry it is.'),
      transferId: optional(Id, 'Only the entry of this transfer (trf_…), or this ledger item (led_…).'),
      reference: optional(Id, 'Only the entries of this deposit, withdrawal, round (rnd_…) or correction.'),
      type: Type.Optional(LedgerItem.properties.type),
      from: optional(Timestamp, 'Entered at this time or later.'),
      to: optional(Timestamp, 'Entered before this time.'),
      amountFrom: optional(Amount, 'Only credits of this amount or more.'),
      before: optional(Id, 'Go on below this entry.'),
      limit: Type.Integer({ minimum: 1, maximum: 1000 }),
    }),
    reply: object({ available: Money, withdrawable: Money, ...pageOf(TeamEntry).properties }),
    rejects: ['VALIDATION_ERROR', 'TRANSFER_NOT_FOUND', 'PLAYER_NOT_FOUND'],
  }),

  ...walletFigures,

  /** A page of a brand's ledger over a period, oldest first; `cursor` is the `nextCursor` of the page before. */
  exportStatement: team.query({
    roles: ['finance', 'auditor'],
    summary: "Export a brand's ledger over a period",
    body: object({
      brandId: Id,
      from: described(Timestamp, 'Included.'),
      to: described(Timestamp, 'Not included; at least a minute ago.'),
      cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
      limit: Type.Integer({ minimum: 1, maximum: 1000 }),
    }),
    reply: object({
      data: Type.Array(TeamEntry, { maxItems: 1_000 }),
      nextCursor: Nullable(text(256)),
      /** Of the whole period, per currency, in every page. closingBalance = openingBalance + net, over all players. */
      totals: arrayOf(200, {
        currency: text(3),
        openingBalance: Money,
        byType: arrayOf(10, { type: text(32), entries: Type.Integer(), amount: Money }),
        entries: Type.Integer(),
        net: Money,
        closingBalance: Money,
      }),
    }),
    rejects: ['VALIDATION_ERROR'],
    timeoutMs: 30_000,
  }),
})
