// Rules.

import { createHash } from 'node:crypto'
import type { ErrorCode, IdOf, LedgerType, PlayKind, RoundState, WinKind } from '@backoffice/contracts'

/** A round of one player, as its row is. */
export interface Round {
  readonly id: string
  readonly providerId: IdOf<'provider'>
  readonly brandId: IdOf<'brand'>
  readonly providerRoundId: string
  readonly accountId: bigint
  readonly gameId: string
  readonly state: RoundState
  readonly openedAt: Date
  readonly closedAt: Date | null
  readonly closedBy: 'bet' | 'win' | 'spin' | 'close' | 'rollback' | 'team' | null
  readonly closedSeq: bigint | null
  readonly detailsUrl: string | null
  /** Bets that were posted and not given back. Counted, so that nobody has to look through the bets of a round. */
  readonly liveBets: number
}

/** What became of a transaction, as its row is and in the order of its columns. */
export interface Play {
  readonly id: string
  readonly providerId: IdOf<'provider'>
  readonly brandId: IdOf<'brand'>
  readonly kind: PlayKind
  readonly transactionId: string
  readonly accountId: bigint
  readonly roundId: IdOf<'round'> | null
  readonly providerRoundId: string | null
  readonly outcome: 'posted' | 'refused' | 'voided' | 'noted'
  readonly amount: bigint | null
  readonly betTransactionId: string | null
  readonly winKind: WinKind | null
  readonly isSpin: boolean
  readonly endsRound: boolean
  readonly isFree: boolean
  readonly sessionId: string | null
  readonly gameId: string | null
  readonly campaignId: string | null
  readonly reason: string | null
  readonly detailsUrl: string | null
  readonly providerTime: Date | null
  readonly refusedWith: string | null
  readonly refusedDetails: string | null
  readonly standing: string | null
  readonly bodyDigest: Buffer
  readonly requestId: string
  readonly seq: bigint
  readonly balanceAfter: bigint
  readonly createdAt: Date
}

/** The columns of a play, in their order. */
export const playColumns = `
  id text, provider_id text, brand_id text, kind text, transaction_id text, account_id bigint, round_id text,
  provider_round_id text, outcome text, amount bigint, bet_transaction_id text, win_kind text, is_spin bool,
  ends_round bool, is_free bool, session_id text, game_id text, campaign_id text, reason text, details_url text,
  provider_time timestamptz, refused_with text, refused_details text, standing text, body_digest bytea,
  request_id text, seq bigint, balance_after bigint, created_at timestamptz
` as const
const playFields = [...playColumns.matchAll(/(\w+) \w+/g)].map(
  ([, column = '']) => column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) as keyof Play,
)

/** SHA-256 of every column of a play, in hex: the hash of its ledger entry covers it. */
export function playDigest(play: Play): string {
  const content = playFields.map((field) => {
    const value = play[field]
    if (typeof value === 'bigint') return String(value)
    if (value instanceof Date) return value.toISOString()
    return Buffer.isBuffer(value) ? value.toString('hex') : value
  })
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}

/** What each message says of itself. Ids are made by `newId` for what is stored. */
interface Sent {
  readonly providerId: IdOf<'provider'>
  readonly bodyDigest: Buffer
  readonly requestId: string
  readonly newId: (prefix: 'rnd' | 'pla' | 'trf') => string
}

/** What a stake and a win have in common. */
interface Paid extends Sent {
  readonly transactionId: string
  readonly currency: string
  readonly amount: bigint
  readonly endsRound: boolean
  /** What one win may be where nothing else was set. */
  readonly maxWin: bigint
  readonly detailsUrl: string | null
  readonly providerTime: Date | null
}

/** A stake; with `win` a spin. */
export interface Bet extends Paid {
  readonly message: 'bet'
  readonly providerRoundId: string
  readonly sessionId: string
  readonly gameId: string
  readonly isFree: boolean
  readonly win: bigint | null
  /** Who may play has refused it; the details are JSON. */
  readonly refusedWith: { readonly code: ErrorCode; readonly details: string | null } | null
  readonly standing: string | null
}

export interface Win extends Paid {
  readonly message: 'win'
  readonly providerRoundId: string | null
  readonly winKind: WinKind
  readonly betTransactionId: string | null
  readonly campaignId: string | null
}

export interface Rollback extends Sent {
  readonly message: 'rollback'
  readonly transactionId: string
  readonly betTransactionId: string
  readonly providerRoundId: string
  readonly reason: string | null
  readonly providerTime: Date | null
}

export interface Close extends Pick<Sent, 'providerId'> {
  readonly message: 'close'
  readonly providerRoundId: string
  readonly detailsUrl: string | null
}

/**
 * The team ends a round: closed as it is, or void. A void gives every live bet back by a rollback of its own, as if the
 * provider had sent it: then a round, a day and a house account sum up by its plays alone, whoever gave the stakes back. Its
 * transaction id is `team:` and the play's own id, which no provider knows beforehand.
 */
export interface End extends Sent {
  readonly message: 'end'
  readonly providerRoundId: string
  readonly state: 'closed' | 'void'
  readonly reason: string
}

export type PlayMessage = Bet | Win | Rollback | Close | End

/** The accounts of a brand that each provider of games has for itself. */
export const houseKinds = ['play', 'jackpots', 'promotions'] as const
export type HouseKind = (typeof houseKinds)[number]
/** By the kind of a win: the type of its transfer, and the account that pays. */
export const paidFrom: Readonly<Record<WinKind, { readonly type: LedgerType; readonly house: HouseKind }>> = {
  win: { type: 'WIN', house: 'play' },
  jackpot: { type: 'JACKPOT', house: 'jackpots' },
  free_round: { type: 'PROMOTION', house: 'promotions' },
  promotion: { type: 'PROMOTION', house: 'promotions' },
}

/** The account of the provider that a message moves money to or from; null where it moves none. */
export function houseOf(message: PlayMessage): HouseKind | null {
  switch (message.message) {
    case 'win':
      return paidFrom[message.winKind].house
    case 'close':
      return null
    default:
      return 'play'
  }
}

/** What settled a bet: the first win that names it, or that names no bet of its round. */
export interface Settlement {
  readonly transactionId: string
  readonly amount: bigint
}

/** A play that is known before a batch, with what has happened to it since. */
export interface KnownPlay extends Play {
  /** Of the transfer that it posted. */
  readonly transferId: IdOf<'transfer'> | null
  /** Of a bet: its stake was given back, by the provider or by the team. */
  readonly isUndone: boolean
  /** Of a bet. */
  readonly settledBy: Settlement | null
}

/** Of a round that was never opened: how bets in it ended. */
export interface Unopened {
  readonly isRefused: boolean
  readonly isVoided: boolean
}

/** What is agreed about a win, and whether it waits for two people or was released by them. */
export interface WinLimit {
  readonly maxWin: bigint | null
  readonly held:
    | (Pick<HeldWinRow, 'accountId' | 'providerRoundId' | 'amount'> & { readonly isReleased: boolean })
    | null
}

/** A win of a provider in a brand. */
export type WinKey = Pick<Play, 'providerId' | 'brandId' | 'transactionId'>

export interface HeldWinRow extends WinKey {
  readonly accountId: bigint
  readonly providerRoundId: string | null
  readonly amount: bigint
  readonly firstAt: Date
}

/** What the round of an `End` consists of. */
export interface RoundContents {
  readonly isWon: boolean
  /** That stand. */
  readonly bets: readonly KnownPlay[]
}

/** What is stored about everything that the plays of a batch name. */
export interface PlayState {
  /** By `playKey`. */
  readonly plays: ReadonlyMap<string, KnownPlay>
  /** By `roundKey`. */
  readonly rounds: ReadonlyMap<string, Round>
  readonly unopened: ReadonlyMap<string, Unopened>
  /** By `roundKey`: a win of the round that names no bet, and so settles all of them. */
  readonly unnamedWins: ReadonlyMap<string, Settlement>
  readonly contents: ReadonlyMap<string, RoundContents>
  /** By `playKey` of the win. */
  readonly winLimits: ReadonlyMap<string, WinLimit>
  /** By the id of a transfer that a correction of the batch reverses: the bet that posted it. */
  readonly stakes: ReadonlyMap<string, KnownPlay>
}

export interface PlayChanges {
  readonly plays: readonly Play[]
  readonly rounds: readonly Round[]
  readonly heldWins: readonly HeldWinRow[]
}

export const playKey = (play: Pick<Play, 'providerId' | 'brandId' | 'kind' | 'transactionId'>): string =>
  `${play.providerId}\n${play.brandId}\n${play.kind}\n${play.transactionId}`

export const roundKey = (
  round: Pick<Round, 'providerId' | 'brandId' | 'accountId'> & Pick<Play, 'providerRoundId'>,
): string => `${round.providerId}\n${round.brandId}\n${round.accountId}\n${round.providerRoundId ?? ''}`

/** What became of a message. A refusal that is kept is a play, too. */
export type PlayOutcome =
  | {
      readonly outcome: 'play'
      readonly play: Play
      /** Of a spin. */
      readonly win: Play | null
      readonly round: Round | null
      readonly replayed: boolean
      /** What can be staked now. */
      readonly balance: bigint
    }
  | { readonly outcome: 'round'; readonly round: Round; readonly replayed: boolean; readonly balance: bigint }
  /** Nothing was stored: the id is free. */
  | {
      readonly outcome: 'not kept'
      readonly code: ErrorCode
      readonly details?: Readonly<Record<string, unknown>>
    }
