// Rules.

import type { LedgerType } from '@backoffice/contracts'
import type { Staker } from './judge.ts'
import {
  type HeldWinRow,
  type HouseKind,
  type KnownPlay,
  type Play,
  type PlayChanges,
  type PlayState,
  playKey,
  type Rollback,
  type Round,
  type RoundContents,
  roundKey,
  type Unopened,
  type Win,
  type WinLimit,
} from './play.ts'

/** What a play moves on the player's account. */
export interface Move {
  readonly transferId: string
  readonly type: LedgerType
  readonly house: HouseKind
  readonly amount: bigint
  readonly reverses?: string
}

/** The player's account while a batch is decided. `post` moves money and takes a number; every play says the number behind it. */
export interface AccountOfPlays {
  read(): Staker & { readonly seq: bigint }
  post(move: Move, play: Play): void
  isReversed(transferId: string): boolean
}

/** A message's brand, account and round. */
export interface Placed {
  readonly brandId: string
  /** Of its round. */
  readonly key: string
  readonly account: AccountOfPlays
}

/** What is known about plays and rounds while a batch is decided: what was read, and what the batch has changed of it. */
export class WorkingPlays {
  readonly #state: PlayState
  readonly #now: Date
  readonly #plays = new Map<string, KnownPlay>()
  readonly #written: Play[] = []
  readonly #rounds = new Map<string, Round>()
  readonly #heldWins = new Map<string, HeldWinRow>()

  constructor(state: PlayState, now: Date) {
    this.#state = state
    this.#now = now
  }

  changes(): PlayChanges {
    return { plays: this.#written, rounds: [...this.#rounds.values()], heldWins: [...this.#heldWins.values()] }
  }

  add(known: KnownPlay): void {
    this.#written.push(known)
    this.#plays.set(playKey(known), known)
  }

  noteReversal(transferId: string, seq: bigint): void {
    const bet = this.#state.stakes.get(transferId)
    if (bet !== undefined) this.undo(bet, { by: 'team', seq })
  }

  findRound({ key }: Pick<Placed, 'key'>): Round | undefined {
    return this.#rounds.get(key) ?? this.#state.rounds.get(key)
  }

  findPlay(key: string, { account }: Placed): KnownPlay | undefined {
    const play = this.#plays.get(key) ?? this.#state.plays.get(key)
    if (play === undefined) return undefined
    // A correction of this batch may have given it back.
    const isUndone = play.isUndone || (play.transferId !== null && account.isReversed(play.transferId))
    return { ...play, isUndone }
  }

  findBet(message: Win | Rollback, transactionId: string | null, of: Placed): KnownPlay | undefined {
    if (transactionId === null) return undefined
    const bet = this.findPlay(playKey({ ...message, brandId: of.brandId, kind: 'bet', transactionId }), of)
    if (bet === undefined || message.message === 'win' || bet.settledBy !== null) return bet
    const settles = (play: Play) =>
      isSettling(play) &&
      (play.betTransactionId === null
        ? play.roundId === bet.roundId
        : playKey({ ...play, kind: 'bet', transactionId: play.betTransactionId }) === playKey(bet))
    const win = this.#written.find(settles)
    // A bet that is as new as this message was not there when it was read what settles it.
    const settledBy =
      win === undefined ? (this.#state.unnamedWins.get(roundKey(bet)) ?? null) : { ...win, amount: win.amount ?? 0n }
    return { ...bet, settledBy }
  }

  findUnopened({ key }: Placed): Unopened {
    const known = this.#state.unopened.get(key)
    const here = this.#written.filter((play) => play.kind === 'bet' && play.roundId === null && roundKey(play) === key)
    return {
      isRefused: known?.isRefused === true || here.some(({ outcome }) => outcome === 'refused'),
      isVoided: known?.isVoided === true || here.some(({ outcome }) => outcome === 'voided'),
    }
  }

  findLimit(key: string): WinLimit | undefined {
    const known = this.#state.winLimits.get(key)
    const here = this.#heldWins.get(key)
    return here === undefined ? known : { maxWin: known?.maxWin ?? null, held: { ...here, isReleased: false } }
  }

  /** What was read of a round that the team ends, with what this batch has done to it. */
  contentsOf(round: Round | undefined, of: Placed): RoundContents {
    const known = this.#state.contents.get(of.key)
    const here = this.#written.filter(({ roundId, outcome }) => outcome === 'posted' && roundId === round?.id)
    const keys = [...(known?.bets ?? []), ...here.filter(({ kind }) => kind === 'bet')].map(playKey)
    const bets = [...new Set(keys)].flatMap((key) => this.findPlay(key, of) ?? [])
    return { isWon: known?.isWon === true || here.some(isSettling), bets: bets.filter(({ isUndone }) => !isUndone) }
  }

  /** Takes a bet out of those that stand. A round without any is void; one that is closed stays so. */
  undo(bet: KnownPlay, { by, seq }: { readonly by: 'rollback' | 'team'; readonly seq: bigint }): Round {
    const key = roundKey(bet)
    const found = this.findRound({ key })
    if (found === undefined) throw new Error(`the round of play ${bet.id} was not read`)
    this.#plays.set(playKey(bet), { ...bet, isUndone: true })
    const left = { ...found, liveBets: found.liveBets - 1 }
    const isVoid = left.liveBets === 0 && left.state === 'open'
    const ended = { state: 'void', closedAt: this.#now, closedBy: by, closedSeq: seq } as const
    const round: Round = isVoid ? { ...left, ...ended } : left
    this.#rounds.set(key, round)
    return round
  }

  keepRound(round: Round, { key, account }: Placed, endedBy: Round['closedBy'] | false): Round {
    const state = round.liveBets === 0 ? 'void' : 'closed'
    const ended = { state, closedAt: this.#now, closedBy: endedBy || null, closedSeq: account.read().seq } as const
    const kept = endedBy === false ? round : { ...round, ...ended }
    this.#rounds.set(key, kept)
    return kept
  }

  /** The first time that two people have to look at a win is kept for them. */
  hold({ providerId, transactionId, providerRoundId, amount }: HeldMessage, { brandId, account }: Placed): void {
    const key = playKey({ providerId, brandId, kind: 'win', transactionId })
    if ((this.findLimit(key)?.held ?? null) !== null) return
    const whose = { providerId, brandId, transactionId, accountId: account.read().id, providerRoundId }
    this.#heldWins.set(key, { ...whose, amount, firstAt: this.#now })
  }
}

export type HeldMessage = Pick<Win, 'providerId' | 'transactionId' | 'providerRoundId' | 'amount'>

const isSettling = ({ kind, outcome, winKind }: Play): boolean =>
  kind === 'win' && outcome === 'posted' && winKind !== 'promotion'
