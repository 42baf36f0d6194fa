// Rules.

import { type ErrorCode, fromMinorUnits } from '@backoffice/contracts'
import type { Bet, End, KnownPlay, Play, Rollback, Round, Unopened, Win, WinLimit } from './play.ts'

/** Whose money it is, as the message finds it. */
export interface Staker {
  readonly id: bigint
  readonly currency: string
  readonly posted: bigint
  readonly held: bigint
}

/** What a message is judged by. Each fact is one row, or whether a row is there: no round is read as a whole. */
export interface Facts {
  readonly account: Staker
  /** What the message's own id is known for. */
  readonly known: KnownPlay | undefined
  /** Of a bet: what the id is known for as a win. */
  readonly knownWin?: KnownPlay | undefined
  readonly round: Round | undefined
  /** The bet that a win or a rollback names. */
  readonly bet?: KnownPlay | undefined
  /** The win that a rollback names. */
  readonly namedWin?: KnownPlay | undefined
  readonly unopened?: Unopened | undefined
  readonly limit?: WinLimit | undefined
  /** Of a round that the team ends. */
  readonly isWon?: boolean
}

type Details = Readonly<Record<string, unknown>>

/** What is done with a message. */
export type Verdict =
  /** It was decided before. */
  | { readonly is: 'known'; readonly play: KnownPlay }
  | { readonly is: 'posted' }
  /** Its refusal is kept under its id. */
  | { readonly is: 'refused'; readonly code: ErrorCode; readonly details?: Details | undefined }
  /** Nothing is kept. */
  | { readonly is: 'rejected'; readonly code: ErrorCode; readonly details?: Details | undefined }
  /** Two people look at it first. */
  | { readonly is: 'held' }
  /** A rollback that gives nothing back; of an unknown bet, it also keeps that bet from being taken. */
  | { readonly is: 'noted'; readonly withTombstone: boolean }
  /** The round had ended before. */
  | { readonly is: 'ended' }
  | { readonly is: 'fault'; readonly message: string }

/** The most that PostgreSQL's bigint holds. */
const balanceMax = 2n ** 63n - 1n

const refused = (code: ErrorCode, details?: Details): Verdict => ({ is: 'refused', code, details })
const rejected = (code: ErrorCode, details?: Details): Verdict => ({ is: 'rejected', code, details })
const posted: Verdict = { is: 'posted' }

const otherCurrency = (account: Staker, received: string): Verdict | undefined =>
  account.currency === received ? undefined : rejected('CURRENCY_MISMATCH', { expected: account.currency, received })

/** Whether a play says all that a message says. */
const says = (play: Play, said: Partial<Play>): boolean =>
  Object.entries(said).every(([field, value]) => play[field as keyof Play] === value)

export function judgeBet(bet: Bet, { account, known, knownWin, round, limit }: Facts): Verdict {
  const mismatch = otherCurrency(account, bet.currency)
  if (mismatch !== undefined) return mismatch
  if (known !== undefined) {
    if (known.accountId !== account.id) return rejected('TRANSACTION_CONFLICT')
    // A tombstone knows nothing but the bet's id, its player and its round.
    if (known.outcome !== 'voided' && !isSameBet(bet, known, knownWin)) return rejected('TRANSACTION_CONFLICT')
    if (known.outcome === 'voided' || known.isUndone) return rejected('TRANSACTION_ROLLED_BACK')
    return { is: 'known', play: known }
  }
  if (bet.win !== null && (knownWin !== undefined || isOtherThanHeld({ ...bet, amount: bet.win }, { account, limit })))
    return rejected('TRANSACTION_CONFLICT')
  if (round?.state === 'void') return refused('ROUND_VOIDED')
  if (round?.state === 'closed') return refused('ROUND_CLOSED')
  if (bet.refusedWith !== null) {
    const { code, details } = bet.refusedWith
    return refused(code, details === null ? undefined : JSON.parse(details))
  }
  if (account.posted - account.held < bet.amount) return refused('INSUFFICIENT_FUNDS')
  if (bet.win === null) return posted
  return judgePayment({ amount: bet.win, maxWin: bet.maxWin }, { account, limit }, account.posted - bet.amount)
}

function isSameBet(bet: Bet, known: KnownPlay, knownWin: KnownPlay | undefined): boolean {
  const { providerRoundId, sessionId, gameId, amount, isFree, endsRound } = bet
  const isSpin = bet.win !== null
  if (!says(known, { providerRoundId, sessionId, gameId, amount, isFree, endsRound, isSpin })) return false
  return !isSpin || known.outcome !== 'posted' || knownWin?.amount === bet.win
}

/** A win that waits, or was released, is as known as one that was paid: no other one is taken under its id. */
const isOtherThanHeld = (
  { providerRoundId, amount }: Pick<Win, 'providerRoundId' | 'amount'>,
  { account, limit }: Pick<Facts, 'account' | 'limit'>,
): boolean => {
  const held = limit?.held ?? null
  return (
    held !== null &&
    (held.accountId !== account.id || held.providerRoundId !== providerRoundId || held.amount !== amount)
  )
}

/** Whether a win can be paid to a balance: what is left for it to be stopped by. */
function judgePayment(
  { amount, maxWin }: { readonly amount: bigint; readonly maxWin: bigint },
  { account, limit }: Pick<Facts, 'account' | 'limit'>,
  balance: bigint,
): Verdict {
  if (amount > (limit?.maxWin ?? maxWin) && limit?.held?.isReleased !== true) return { is: 'held' }
  if (balance + amount > balanceMax) return { is: 'fault', message: `account ${account.id} cannot hold ${amount} more` }
  return posted
}

export function judgeWin(win: Win, facts: Facts): Verdict {
  const { account, known } = facts
  const mismatch = otherCurrency(account, win.currency)
  if (mismatch !== undefined) return mismatch
  if (known !== undefined) {
    const { providerRoundId, amount, winKind, betTransactionId, campaignId, endsRound } = win
    const said = { providerRoundId, amount, winKind, betTransactionId, campaignId, endsRound, isSpin: false }
    return known.accountId === account.id && says(known, said)
      ? { is: 'known', play: known }
      : rejected('TRANSACTION_CONFLICT')
  }
  if (isOtherThanHeld(win, facts)) return rejected('TRANSACTION_CONFLICT')
  const unfounded = win.winKind === 'promotion' ? undefined : refuseWithoutBet(win, facts)
  return unfounded ?? judgePayment(win, facts, account.posted)
}

/** A win belongs to a stake that stands. */
function refuseWithoutBet(win: Win, { account, round, bet, unopened }: Facts): Verdict | undefined {
  if (win.betTransactionId === null) {
    if (round !== undefined) return round.liveBets > 0 ? undefined : refused('ROUND_VOIDED')
    if (unopened?.isRefused) return refused('BET_REFUSED')
    return unopened?.isVoided ? refused('ROUND_VOIDED') : rejected('BET_NOT_FOUND')
  }
  const isOfRound = bet?.accountId === account.id && bet.providerRoundId === win.providerRoundId
  if (bet === undefined || !isOfRound)
    return round?.state === 'void' ? refused('ROUND_VOIDED') : rejected('BET_NOT_FOUND')
  if (bet.outcome === 'refused') return refused('BET_REFUSED')
  return bet.outcome === 'voided' || bet.isUndone ? refused('ROUND_VOIDED') : undefined
}

export function judgeRollback(rollback: Rollback, { account, known, round, bet, namedWin }: Facts): Verdict {
  const { providerRoundId, betTransactionId, reason } = rollback
  if (known !== undefined)
    return known.accountId === account.id && says(known, { providerRoundId, betTransactionId, reason })
      ? { is: 'known', play: known }
      : rejected('TRANSACTION_CONFLICT')
  if (bet === undefined) return namedWin === undefined ? { is: 'noted', withTombstone: true } : refused('NOT_A_BET')
  if (bet.accountId !== account.id || bet.providerRoundId !== providerRoundId) return rejected('TRANSACTION_CONFLICT')
  if (bet.outcome !== 'posted' || bet.isUndone) return { is: 'noted', withTombstone: false }
  if (bet.settledBy !== null || bet.isSpin || round?.state !== 'open') {
    const { transactionId = null, amount = 0n } = bet.settledBy ?? {}
    const result = { roundState: round?.state ?? null, winTransactionId: transactionId, won: fromMinorUnits(amount) }
    return refused('BET_ALREADY_SETTLED', { result })
  }
  return posted
}

export function judgeClose({ round }: Pick<Facts, 'round'>): Verdict {
  if (round === undefined) return rejected('BET_NOT_FOUND')
  return round.state === 'open' ? posted : { is: 'ended' }
}

export function judgeEnd({ state }: End, { round, isWon }: Pick<Facts, 'round' | 'isWon'>): Verdict {
  if (round === undefined) return rejected('ROUND_NOT_FOUND')
  if (round.state !== 'open') return rejected('ROUND_NOT_OPEN', { state: round.state })
  return state === 'void' && isWon === true ? rejected('ROUND_HAS_WINS') : posted
}
