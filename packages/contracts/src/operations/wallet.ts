import { Type } from '@sinclair/typebox'
import { operation } from '../operation.ts'
import { Amount, Id, LedgerItem, Money, Nullable, Timestamp, Wallet } from '../resources.ts'
import { PlayerPath, sample } from './paths.ts'

const operator = { service: 'wallet', audience: 'operator', tag: 'Wallet' } as const
const internal = { service: 'wallet', audience: 'internal', kind: 'posting', callers: ['payments'] } as const
const closed = { additionalProperties: false } as const

export const getWallet = operation({
  ...operator,
  id: 'getWallet',
  kind: 'query',
  summary: "Read a player's wallet",
  http: { method: 'GET', path: '/players/{playerId}/wallet', status: 200 },
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
})

export const listTransactions = operation({
  ...operator,
  id: 'listTransactions',
  kind: 'query',
  summary: "List a player's ledger",
  description:
    'Most recent first. Pass the previous `nextCursor` as `cursor` for the next page; null means no more pages.',
  http: { method: 'GET', path: '/players/{playerId}/transactions', status: 200 },
  params: PlayerPath,
  query: Type.Object(
    {
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
      cursor: Type.Optional(
        Type.String({ minLength: 1, maxLength: 512, description: 'Opaque, from the previous page.' }),
      ),
    },
    closed,
  ),
  reply: Type.Object(
    { data: Type.Array(LedgerItem), nextCursor: Nullable(Type.String()) },
    { ...closed, $id: 'LedgerPage' },
  ),
  rejects: ['VALIDATION_ERROR', 'PLAYER_NOT_FOUND'],
  example: {
    params: { playerId: sample.playerId },
    query: { limit: '50' },
    reply: {
      data: [
        {
          id: 'led_01kaj6gnn6e7rs0h4jyyb6a6vd',
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
})

/** Opens the account of a new player; repeating it changes nothing. */
export const openAccount = operation({
  ...internal,
  id: 'openAccount',
  callers: ['players'],
  summary: "Open a player's account",
  body: Type.Object({ playerId: Id }, closed),
  reply: Type.Object({ playerId: Id }, closed),
})

/** Credits a player. Idempotent by deposit, for ever; opens a missing account; is never refused. */
export const creditAccount = operation({
  ...internal,
  id: 'creditAccount',
  summary: "Credit a player's account with a confirmed deposit",
  body: Type.Object({ playerId: Id, depositId: Id, amount: Amount, effectiveAt: Timestamp }, closed),
  reply: Type.Object({ transferId: Id }, closed),
})

export const HoldState = Type.Union([Type.Literal('open'), Type.Literal('captured'), Type.Literal('released')])

/** Reserves money for a withdrawal; only the state `open` means that it is reserved. */
export const openHold = operation({
  ...internal,
  id: 'openHold',
  summary: 'Reserve money for a withdrawal',
  body: Type.Object({ playerId: Id, withdrawalId: Id, amount: Amount }, closed),
  reply: Type.Object({ state: HoldState }, closed),
  rejects: ['INSUFFICIENT_FUNDS'],
})

/** Debits what a withdrawal reserved: the hold is closed and the ledger entry written in one transaction. */
export const captureHold = operation({
  ...internal,
  id: 'captureHold',
  summary: 'Debit a paid withdrawal',
  body: Type.Object({ playerId: Id, withdrawalId: Id, effectiveAt: Timestamp }, closed),
  reply: Type.Object({ transferId: Id }, closed),
})

/** Gives back what a withdrawal reserved; for an unknown withdrawal it leaves a released tombstone that refuses a late hold. */
export const releaseHold = operation({
  ...internal,
  id: 'releaseHold',
  summary: 'Release the money of a withdrawal',
  body: Type.Object({ playerId: Id, withdrawalId: Id }, closed),
  reply: Type.Object({ state: HoldState }, closed),
})

/** The balance beside a withdrawal in the team's review queue. */
export const readBalance = operation({
  service: 'wallet',
  audience: 'internal',
  id: 'readBalance',
  kind: 'query',
  callers: ['payments'],
  summary: "Read a player's balance",
  body: Type.Object({ playerId: Id }, closed),
  reply: Type.Object({ available: Money, withdrawable: Money }, closed),
  rejects: ['PLAYER_NOT_FOUND'],
})
