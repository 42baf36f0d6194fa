// Rules.

import type { LedgerType } from '@backoffice/contracts'
import { houseKinds, type PlayMessage, type PlayOutcome } from '../rounds/play.ts'

/** The brand's side of a transfer: where players' money comes from or goes to. */
export const systemAccountKinds = ['deposits', 'withdrawals', 'adjustments', ...houseKinds] as const
export type SystemAccountKind = (typeof systemAccountKinds)[number]

/** Whose balance a posting is about. */
export interface AccountTarget {
  readonly brandId: string
  readonly playerId: string
  readonly currency: string
}

/** A transfer between a player and a system account, idempotent by its reference within the brand. */
export interface TransferRequest {
  /** Used only if the reference is new. */
  readonly transferId: string
  readonly reference: string
  readonly type: LedgerType
  readonly counterparty: SystemAccountKind
  /** Of the counterparty: the provider of games that the account is for. */
  readonly party?: string
  /** Minor units, over zero. */
  readonly amount: bigint
  /** Unless it is said, when it is posted. */
  readonly effectiveAt?: Date
  readonly reverses?: string
  readonly reason?: string
}

/**
 * What the ledger can do. A `refusal` asks for a credit to be refused for ever, if it can never be done. A deposit's credit, a capture and a release cannot be refused. A debit and a hold can be refused with
 * INSUFFICIENT_FUNDS, and the reference then keeps that outcome for ever.
 */
export type Posting = AccountTarget &
  (
    | ({ readonly kind: 'credit' | 'debit' } & TransferRequest)
    | ({ readonly kind: 'refusal' } & TransferRequest)
    | { readonly kind: 'hold'; readonly reference: string; readonly amount: bigint }
    | { readonly kind: 'capture'; readonly reference: string; readonly transferId: string; readonly effectiveAt: Date }
    | { readonly kind: 'release'; readonly reference: string }
    | { readonly kind: 'play'; readonly play: PlayMessage }
  )

export type HoldState = 'open' | 'captured' | 'released'

/** The outcome of a posting. Each sender gets its own. */
export type PostingOutcome =
  | PlayOutcome
  | { readonly outcome: 'posted'; readonly transferId: string; readonly replayed: boolean }
  | { readonly outcome: 'hold'; readonly state: HoldState }
  | { readonly outcome: 'insufficient_funds' }
  /** Two people of the team gave this credit up. The reference keeps that outcome for ever. */
  | { readonly outcome: 'refused' }
  /** The account can take the credit that was to be refused. Nothing was stored. */
  | { readonly outcome: 'possible' }
  /** The reference belongs to another transfer or hold. */
  | { readonly outcome: 'conflict' }
  | { readonly outcome: 'already_reversed' }
  /** The team may take a balance so far and no further. Nothing was stored. */
  | { readonly outcome: 'balance_limit' }
  /** A bug of the sender or of ours. Nothing was posted or stored, and a person must look at it. */
  | { readonly outcome: 'fault'; readonly message: string }

export interface PlayerAccount extends AccountTarget {
  readonly id: bigint
  readonly posted: bigint
  readonly held: bigint
  readonly seq: bigint
  readonly head: Buffer
}

export interface Transfer {
  readonly id: string
  readonly brandId: string
  readonly reference: string
  readonly type: LedgerType
  readonly debitAccount: bigint
  readonly creditAccount: bigint
  readonly amount: bigint
  readonly outcome: 'posted' | 'insufficient_funds' | 'refused'
  readonly reverses: string | null
  readonly reason: string | null
  readonly effectiveAt: Date
  readonly createdAt: Date
}

/** The part of a stored transfer that distinguishes a replay from a conflict. The row itself is the fingerprint. */
export type KnownTransfer = Pick<
  Transfer,
  'id' | 'type' | 'debitAccount' | 'creditAccount' | 'amount' | 'outcome' | 'reverses'
>

export interface Hold {
  readonly brandId: string
  readonly reference: string
  readonly accountId: bigint
  /** null: the tombstone of a release that came before its hold. */
  readonly amount: bigint | null
  readonly state: HoldState | 'refused'
  readonly transferId: string | null
  readonly openedAt: Date | null
  readonly closedAt: Date | null
}

/**
 * One side of a transfer. On a player's account it has a number, a balance and a hash; on a system account it has none
 * of them.
 */
export interface LedgerEntry {
  readonly accountId: bigint
  readonly transferId: string
  readonly amount: bigint
  readonly guarded: { readonly seq: bigint; readonly balance: bigint; readonly hash: Buffer } | null
}

/** An outcome that only a bug can cause. Nothing was posted, and the caller will try again. */
export function unexpected(result: PostingOutcome, what: string): Error {
  return new Error(`${what}: ${result.outcome === 'fault' ? result.message : `unexpectedly ${result.outcome}`}`)
}
