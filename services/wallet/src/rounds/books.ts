// Rules.

import type { IdOf } from '@backoffice/contracts'
import { judgeBet, judgeClose, judgeEnd, judgeRollback, judgeWin, type Verdict } from './judge.ts'
import {
  type Bet,
  type Close,
  type End,
  type KnownPlay,
  type Play,
  type PlayChanges,
  type PlayMessage,
  type PlayOutcome,
  type PlayState,
  paidFrom,
  playKey,
  type Rollback,
  type Round,
  roundKey,
  type Win,
} from './play.ts'
import { type AccountOfPlays, type HeldMessage, type Move, type Placed, WorkingPlays } from './working-plays.ts'

export type Decided = PlayOutcome | { readonly outcome: 'fault'; readonly message: string }
/** What a play says besides what follows from the message, the account and the time. */
type Said = Pick<Play, 'kind' | 'transactionId' | 'outcome' | 'amount' | 'providerRoundId'> & Partial<Play>

/** Decides the plays of a batch in order, each on the result of those before it. */
export class PlayBooks {
  readonly #now: Date
  readonly #working: WorkingPlays

  constructor(state: PlayState, now: Date) {
    this.#now = now
    this.#working = new WorkingPlays(state, now)
  }

  changes(): PlayChanges {
    return this.#working.changes()
  }

  apply(brandId: IdOf<'brand'>, message: PlayMessage, account: AccountOfPlays): Decided {
    const key = roundKey({ ...message, brandId, accountId: account.read().id })
    const of: Placed = { brandId, key, account }
    switch (message.message) {
      case 'bet':
        return this.#bet(message, of)
      case 'win':
        return this.#win(message, of)
      case 'rollback':
        return this.#rollback(message, of)
      case 'close':
        return this.#close(message, of)
      case 'end':
        return this.#end(message, of)
      default:
        return message satisfies never
    }
  }

  /** The team has reversed a transfer. If a bet posted it, its stake was given back. */
  noteReversal(transferId: IdOf<'transfer'>, seq: bigint): void {
    this.#working.noteReversal(transferId, seq)
  }

  #bet(bet: Bet, of: Placed): Decided {
    const { transactionId, providerRoundId, sessionId, gameId, amount, isFree, endsRound, win } = bet
    const key = (kind: 'bet' | 'win') => playKey({ ...bet, brandId: of.brandId, kind })
    const knownWin = this.#working.findPlay(key('win'), of)
    const known = this.#working.findPlay(key('bet'), of)
    const limit = this.#working.findLimit(key('win'))
    const found = this.#working.findRound(of)
    const verdict = judgeBet(bet, { account: of.account.read(), round: found, known, knownWin, limit })
    const isSpin = win !== null
    const placed = { transactionId, amount, providerRoundId, sessionId, gameId, isFree, endsRound, isSpin }
    const said = { ...placed, kind: 'bet' as const, providerTime: bet.providerTime, standing: bet.standing }
    if (verdict.is === 'held' && win !== null) return this.#hold({ ...bet, amount: win }, of)
    if (verdict.is === 'known' && isSpin) return this.#known(verdict.play, of, knownWin ?? null)
    if (verdict.is !== 'posted') return this.#unposted(verdict, { message: bet, said, of })

    const opened = found ?? this.#open(bet, of)
    const play = this.#write(
      bet,
      of,
      { ...said, outcome: 'posted', roundId: opened.id },
      { type: 'BET', house: 'play' },
    )
    const paid = { kind: 'win', winKind: 'win', betTransactionId: transactionId, transactionId, isSpin: true } as const
    const won =
      win === null
        ? null
        : this.#write(
            bet,
            of,
            {
              ...paid,
              outcome: 'posted',
              amount: win,
              providerRoundId,
              roundId: opened.id,
              detailsUrl: bet.detailsUrl,
            },
            { type: 'WIN', house: 'play' },
          )
    const round = this.#working.keepRound(
      { ...opened, liveBets: opened.liveBets + 1 },
      of,
      endsRound && (isSpin ? 'spin' : 'bet'),
    )
    return this.#played(play, { of, win: won, round })
  }

  #open({ newId, providerId, providerRoundId, gameId }: Bet, { brandId, account }: Placed): Round {
    const whose = { id: newId('rnd'), providerId, brandId, providerRoundId, accountId: account.read().id, gameId }
    const notEnded = { closedAt: null, closedBy: null, closedSeq: null, detailsUrl: null }
    return { ...whose, ...notEnded, state: 'open', openedAt: this.#now, liveBets: 0 }
  }

  #win(win: Win, of: Placed): Decided {
    const { transactionId, providerRoundId, amount, winKind, betTransactionId, campaignId, endsRound } = win
    const key = playKey({ ...win, brandId: of.brandId, kind: 'win' })
    const round = this.#working.findRound(of)
    const bet = this.#working.findBet(win, betTransactionId, of)
    const unopened = this.#working.findUnopened(of)
    const [known, limit] = [this.#working.findPlay(key, of), this.#working.findLimit(key)]
    const verdict = judgeWin(win, { account: of.account.read(), round, known, bet, unopened, limit })
    const paid = { transactionId, amount, providerRoundId, winKind, betTransactionId, campaignId, endsRound }
    const told = { detailsUrl: win.detailsUrl, providerTime: win.providerTime }
    const said = { ...paid, ...told, kind: 'win' as const, roundId: round?.id ?? null }
    if (verdict.is === 'held') return this.#hold(win, of)
    if (verdict.is !== 'posted') return this.#unposted(verdict, { message: win, said, of })
    const play = this.#write(win, of, { ...said, outcome: 'posted' }, paidFrom[winKind])
    const ended =
      round !== undefined && endsRound && round.state === 'open'
        ? this.#working.keepRound(round, of, 'win')
        : (round ?? null)
    return this.#played(play, { of, round: ended })
  }

  #rollback(rollback: Rollback, of: Placed): Decided {
    const { transactionId, betTransactionId, providerRoundId, reason, providerTime } = rollback
    const { brandId } = of
    const bet = this.#working.findBet(rollback, betTransactionId, of)
    const namedWin = this.#working.findPlay(
      playKey({ ...rollback, brandId, kind: 'win', transactionId: betTransactionId }),
      of,
    )
    const known = this.#working.findPlay(playKey({ ...rollback, brandId, kind: 'rollback' }), of)
    const found = this.#working.findRound(of)
    const verdict = judgeRollback(rollback, { account: of.account.read(), round: found, known, bet, namedWin })
    const roundId = found?.id ?? null
    const given = { transactionId, providerRoundId, betTransactionId, reason, providerTime }
    const said = { ...given, kind: 'rollback' as const, amount: null, roundId }
    if (verdict.is === 'noted' && verdict.withTombstone) {
      const tombstone = { kind: 'bet', transactionId: betTransactionId, outcome: 'voided', amount: null } as const
      this.#write(rollback, of, { ...tombstone, providerRoundId, roundId })
    }
    if (verdict.is === 'noted') return this.#played(this.#write(rollback, of, { ...said, outcome: 'noted' }), { of })
    if (verdict.is !== 'posted' || bet === undefined) return this.#unposted(verdict, { message: rollback, said, of })
    const play = this.#giveBack(rollback, of, { bet, said })
    const round = this.#working.undo(bet, { by: 'rollback', seq: play.seq })
    return this.#played(play, { of, round })
  }

  #giveBack(
    message: Rollback | End,
    of: Placed,
    { bet, said }: { readonly bet: Pick<KnownPlay, 'amount' | 'transferId'>; readonly said: Omit<Said, 'outcome'> },
  ): Play {
    const reverses = bet.transferId === null ? {} : { reverses: bet.transferId }
    const posted = { ...said, outcome: 'posted', amount: bet.amount } as const
    return this.#write(message, of, posted, { type: 'ROLLBACK', house: 'play', ...reverses })
  }

  #close(close: Close, of: Placed): Decided {
    const round = this.#working.findRound(of)
    const verdict = judgeClose({ round })
    if (verdict.is === 'rejected') return notKept(verdict)
    const isOpen = verdict.is === 'posted'
    const kept = isOpen
      ? this.#working.keepRound({ ...(round as Round), detailsUrl: close.detailsUrl }, of, 'close')
      : round
    return { outcome: 'round', round: kept as Round, replayed: !isOpen, balance: balanceOf(of) }
  }

  #end(end: End, of: Placed): Decided {
    const round = this.#working.findRound(of)
    const { bets, isWon } = this.#working.contentsOf(round, of)
    const verdict = judgeEnd(end, { round, isWon })
    if (verdict.is !== 'posted' || round === undefined) return notKept(verdict)
    if (end.state === 'closed')
      return {
        outcome: 'round',
        round: this.#working.keepRound(round, of, 'team'),
        replayed: false,
        balance: balanceOf(of),
      }
    if (bets.length !== round.liveBets)
      return {
        outcome: 'fault',
        message: `round ${round.id} has ${round.liveBets} live bets, and ${bets.length} were read`,
      }
    const { providerRoundId, reason } = end
    for (const bet of bets) {
      const id = end.newId('pla')
      const named = { id, transactionId: `team:${id}`, betTransactionId: bet.transactionId, roundId: round.id }
      this.#giveBack(end, of, { bet, said: { kind: 'rollback', amount: null, providerRoundId, reason, ...named } })
    }
    const kept = this.#working.keepRound({ ...round, liveBets: 0 }, of, 'team')
    return { outcome: 'round', round: kept, replayed: false, balance: balanceOf(of) }
  }

  #hold(win: HeldMessage, of: Placed): Decided {
    this.#working.hold(win, of)
    return { outcome: 'not kept', code: 'WIN_HELD' }
  }

  /** Adds a play, and moves its money if there is any. */
  #write(
    message: Exclude<PlayMessage, Close>,
    of: Placed,
    said: Said,
    paid?: Omit<Move, 'transferId' | 'amount'>,
  ): Play {
    const { id: accountId, posted, held, seq } = of.account.read()
    const { providerId, bodyDigest, requestId, newId } = message
    const amount = said.outcome === 'posted' ? (said.amount ?? 0n) : 0n
    const change = said.kind === 'bet' ? -amount : amount
    const play: Play = {
      ...notSaid,
      id: said.id ?? newId('pla'),
      providerId,
      brandId: of.brandId,
      accountId,
      bodyDigest,
      requestId,
      ...said,
      seq: amount > 0n ? seq + 1n : seq,
      balanceAfter: posted - held + change,
      createdAt: this.#now,
    }
    const transferId = amount > 0n ? newId('trf') : null
    if (transferId !== null && paid !== undefined) of.account.post({ ...paid, transferId, amount }, play)
    this.#working.add({ ...play, transferId, isUndone: false, settledBy: null })
    return play
  }

  #unposted(
    verdict: Verdict,
    {
      message,
      said,
      of,
    }: { readonly message: Bet | Win | Rollback; readonly said: Omit<Said, 'outcome'>; readonly of: Placed },
  ): Decided {
    if (verdict.is === 'known') return this.#known(verdict.play, of, null)
    if (verdict.is === 'fault') return { outcome: 'fault', message: verdict.message }
    if (verdict.is !== 'refused') return notKept(verdict)
    const roundId = this.#working.findRound(of)?.id ?? null
    const { code: refusedWith, details } = verdict
    const refusedDetails = details === undefined ? null : JSON.stringify(details)
    const play = this.#write(message, of, { ...said, roundId, outcome: 'refused', refusedWith, refusedDetails })
    return this.#played(play, { of })
  }

  #known(play: KnownPlay, of: Placed, win: KnownPlay | null): Decided {
    return { ...this.#played(play, { of, win }), replayed: true }
  }

  #played(
    play: Play,
    { of, win = null, round }: { readonly of: Placed; readonly win?: Play | null; readonly round?: Round | null },
  ): PlayOutcome & { outcome: 'play' } {
    const shown = round === undefined ? (this.#working.findRound(of) ?? null) : round
    return { outcome: 'play', play, win, round: shown, replayed: false, balance: balanceOf(of) }
  }
}

/** What can be staked now. */
const balanceOf = ({ account }: Placed): bigint => {
  const { posted, held } = account.read()
  return posted - held
}

const notKept = (verdict: Verdict): Decided => {
  if (verdict.is !== 'rejected') throw new Error(`a play cannot be ${verdict.is} here`)
  const { code, details } = verdict
  return details === undefined ? { outcome: 'not kept', code } : { outcome: 'not kept', code, details }
}

const notInRound = { roundId: null, betTransactionId: null, winKind: null, isSpin: false, endsRound: false }
const notTold = { campaignId: null, reason: null, detailsUrl: null, providerTime: null, standing: null }
const notStaked = { isFree: false, sessionId: null, gameId: null }
const notSaid = { ...notInRound, ...notTold, ...notStaked, refusedWith: null, refusedDetails: null }
