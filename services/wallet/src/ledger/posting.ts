// Rules.

import type { IdOf, LedgerType } from '@backoffice/contracts'
import { houseKinds, type PlayChanges, type PlayMessage, type PlayOutcome, type PlayState } from '../rounds/play.ts'

/** The brand's side of a transfer: where players' money comes from or goes to. */
export const systemAccountKinds = ['deposits', 'withdrawals', 'adjustments', ...houseKinds] as const
export type SystemAccountKind = (typeof systemAccountKinds)[number]

/** Whose balance a posting is about. */
export interface AccountTarget {
  readonly brandId: IdOf<'brand'>
  readonly playerId: IdOf<'player'>
  readonly currency: string
}

/** A transfer between a player and a system account, idempotent by its reference within the brand. */
export interface TransferRequest {
  /** Used only if the reference is new. */
  readonly transferId: IdOf<'transfer'>
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
    | ({ readonly kind: 'capture' } & Required<Pick<TransferRequest, 'reference' | 'transferId' | 'effectiveAt'>>)
    | { readonly kind: 'release'; readonly reference: string }
    | { readonly kind: 'play'; readonly play: PlayMessage }
  )

export type HoldState = 'open' | 'captured' | 'released'

/** The outcome of a posting. Each sender gets its own. */
export type PostingOutcome =
  | PlayOutcome
  | { readonly outcome: 'posted'; readonly transferId: IdOf<'transfer'>; readonly replayed: boolean }
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
  readonly id: IdOf<'transfer'>
  readonly brandId: IdOf<'brand'>
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
  readonly brandId: IdOf<'brand'>
  readonly reference: string
  readonly accountId: bigint
  /** null: the tombstone of a release that came before its hold. */
  readonly amount: bigint | null
  readonly state: HoldState | 'refused'
  readonly transferId: IdOf<'transfer'> | null
  readonly openedAt: Date | null
  readonly closedAt: Date | null
}

/**
 * One side of a transfer. On a player's account it has a number, a balance and a hash; on a system account it has none
 * of them.
 */
export interface LedgerEntry {
  readonly accountId: bigint
  readonly transferId: IdOf<'transfer'>
  readonly amount: bigint
  readonly guarded: { readonly seq: bigint; readonly balance: bigint; readonly hash: Buffer } | null
}

/** What the hash of a player's entry covers of the entry itself. */
export type ChainedEntry = Pick<LedgerEntry, 'accountId' | 'amount'> & {
  readonly seq: bigint
  readonly balance: bigint
}

/** What the ledger has about everything that a batch names. The accounts are locked. */
export interface LedgerState {
  /** By `brandKey(brandId, playerId)`. */
  readonly accounts: ReadonlyMap<string, PlayerAccount>
  /** By `systemKey`. */
  readonly systemAccounts: ReadonlyMap<string, bigint>
  /** By `brandKey(brandId, reference)`. */
  readonly transfers: ReadonlyMap<string, KnownTransfer>
  readonly holds: ReadonlyMap<string, Hold>
  /** The ids of transfers that a posted transfer reverses. */
  readonly reversed: ReadonlySet<string>
  /** Undefined where the batch neither has a play nor reverses anything. */
  readonly play: PlayState | undefined
}

/** What is to be written: rows to insert, and the last state of each changed account and hold. */
export interface Changes {
  readonly transfers: readonly Transfer[]
  readonly entries: readonly LedgerEntry[]
  readonly holds: readonly Hold[]
  readonly accounts: readonly PlayerAccount[]
  readonly play: PlayChanges | undefined
}

/** An outcome that only a bug can cause. Nothing was posted, and the caller will try again. */
export function unexpected(result: PostingOutcome, what: string): Error {
  return new Error(`${what}: ${result.outcome === 'fault' ? result.message : `unexpectedly ${result.outcome}`}`)
}
