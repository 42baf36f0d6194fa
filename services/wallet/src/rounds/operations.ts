import {
  type BetRequest,
  type ErrorCode,
  fromMinorUnits,
  type HeldRound,
  type IdOf,
  invalid,
  operations,
  type PlayResult,
  Rejection,
  type Scope,
  toMinorUnits,
} from '@backoffice/contracts'
import { type Call, fitting, handle } from '@backoffice/service-runtime'
import type { Ledger } from '../ledger/ledger.ts'
import { type PostingOutcome, unexpected } from '../ledger/posting.ts'
import { findDays } from './days.ts'
import type { Play, PlayMessage, PlayOutcome } from './play.ts'
import { findHeldPlace, findPlay, listHeldRoundsOf } from './provider-records.ts'
import type { RoundRow } from './team-records.ts'
import { teamPlay, teamRound } from './team-views.ts'

/** The provider that calls, as the gateway has proven it. */
function providerOf({ provider }: Scope) {
  if (provider === undefined) throw new Error('a call of a provider of games names none')
  return provider
}

type NewId = (prefix: 'rnd' | 'pla' | 'trf') => string

const sentBy = ({ scope, requestId }: Pick<Call, 'scope' | 'requestId'>, newId: NewId) => {
  const { id: providerId, bodyDigest } = providerOf(scope)
  return { providerId, bodyDigest: Buffer.from(bodyDigest, 'hex'), requestId, newId }
}

const timeOf = (time: string | undefined): Date | null => (time === undefined ? null : new Date(time))

/** @throws {Rejection} VALIDATION_ERROR */
function stakeOf({ amount, freeRound = false }: Pick<BetRequest, 'amount' | 'freeRound'>): bigint {
  const stake = toMinorUnits(amount)
  if (freeRound && stake !== 0n) throw invalid('body', '/amount', 'must be 0.00 where freeRound is true')
  if (!freeRound && stake === 0n) throw invalid('body', '/amount', 'must be over zero')
  return stake
}

/** What was moved, and when; a refusal is thrown as it was the first time. @throws {Rejection} what the play was refused with */
function playOf(result: PostingOutcome, what: string): PlayOutcome & { outcome: 'play' } {
  if (result.outcome === 'not kept') throw Rejection.from(result as { code: ErrorCode })
  if (result.outcome !== 'play') throw unexpected(result, what)
  const { refusedWith, refusedDetails } = result.play
  if (refusedWith === null) return result
  const details = refusedDetails === null ? undefined : JSON.parse(refusedDetails)
  // What the provider shows is what there is now.
  const balance = refusedWith === 'INSUFFICIENT_FUNDS' ? { balance: fromMinorUnits(result.balance) } : {}
  throw Rejection.from({ code: refusedWith as ErrorCode, details: { ...details, ...balance } })
}

/** What the plays of one message show. Behind a spin's win there is another balance than behind its bet. */
function resultOf({ play, win, round, replayed, balance }: PlayOutcome & { outcome: 'play' }): PlayResult {
  const applied = play.outcome === 'posted'
  return {
    id: play.id,
    transactionId: play.transactionId,
    roundId: play.providerRoundId,
    roundState: round?.state ?? null,
    applied,
    replayed,
    amount: movedBy(play),
    balanceAfter: fromMinorUnits((win ?? play).balanceAfter),
    balance: fromMinorUnits(balance),
    createdAt: play.createdAt.toISOString(),
  }
}

const movedBy = ({ outcome, amount }: Pick<Play, 'outcome' | 'amount'>): string =>
  fromMinorUnits(outcome === 'posted' ? (amount ?? 0n) : 0n)

const post = (ledger: Ledger, { brandId, currency }: Scope, playerId: IdOf<'player'>, play: PlayMessage) =>
  ledger.post({ kind: 'play', brandId, playerId, currency, play })

/** @param maxWin what one win may be without two people where nothing else was set, in minor units */
export const stake = (ledger: Ledger, maxWin: bigint) =>
  handle(operations.wallet.stake, async ({ input, scope, requestId }, { newId }) => {
    const { bet, refusedWith, standing } = input
    const { transactionId, roundId: providerRoundId, sessionId, gameId, currency, playerId } = bet
    const result = await post(ledger, scope, playerId, {
      ...sentBy({ scope, requestId }, newId),
      message: 'bet',
      transactionId,
      providerRoundId,
      sessionId,
      gameId,
      currency,
      amount: stakeOf(bet),
      isFree: bet.freeRound === true,
      endsRound: bet.win !== undefined || bet.roundEnds === true,
      win: bet.win === undefined ? null : toMinorUnits(bet.win),
      maxWin,
      detailsUrl: bet.detailsUrl ?? null,
      providerTime: timeOf(bet.providerTime),
      refusedWith:
        refusedWith === undefined
          ? null
          : { code: refusedWith.code as ErrorCode, details: refusedWith.details ?? null },
      standing: standing === null ? null : JSON.stringify(standing),
    })
    const played = playOf(result, `the stake ${transactionId}`)
    return { ...resultOf(played), win: played.win === null ? '0.00' : movedBy(played.win) }
  })

export const creditWin = (ledger: Ledger, maxWin: bigint) =>
  handle(operations.wallet.creditWin, async ({ input, scope, requestId }, { newId }) => {
    const { transactionId, playerId, kind = 'win', amount, currency } = input
    if (input.roundId === undefined && kind !== 'promotion')
      throw invalid('body', '/roundId', 'is required, but for a promotion')
    const result = await post(ledger, scope, playerId, {
      ...sentBy({ scope, requestId }, newId),
      message: 'win',
      transactionId,
      providerRoundId: input.roundId ?? null,
      currency,
      amount: toMinorUnits(amount),
      winKind: kind,
      betTransactionId: input.betTransactionId ?? null,
      campaignId: input.campaignId ?? null,
      endsRound: input.roundEnds === true,
      maxWin,
      detailsUrl: input.detailsUrl ?? null,
      providerTime: timeOf(input.providerTime),
    })
    return resultOf(playOf(result, `the win ${transactionId}`))
  })

export const rollbackBet = (ledger: Ledger) =>
  handle(operations.wallet.rollbackBet, async ({ input, scope, requestId }, { newId }) => {
    const { transactionId, betTransactionId, playerId, roundId: providerRoundId, reason = null } = input
    const providerTime = timeOf(input.providerTime)
    const said = { transactionId, betTransactionId, providerRoundId, reason, providerTime }
    const message = { ...sentBy({ scope, requestId }, newId), ...said, message: 'rollback' as const }
    return resultOf(playOf(await post(ledger, scope, playerId, message), `the rollback ${transactionId}`))
  })

export const readTransaction = handle(operations.wallet.readTransaction, async ({ input, scope }, { db }) => {
  const key = { providerId: providerOf(scope).id, brandId: scope.brandId }
  const play = await findPlay(db, { ...key, kind: input.kind, transactionId: input.transactionId })
  if (play === undefined) throw new Rejection('TRANSACTION_NOT_FOUND')
  const { id, kind, transactionId, outcome, code, rolledBack, playerId, roundId, roundState, ...shown } = teamPlay(play)
  const { betTransactionId, amount, currency, createdAt } = shown
  const became = { id, kind, transactionId, outcome, code, rolledBack, betTransactionId, amount, currency, createdAt }
  return { ...became, playerId, roundId, roundState }
})

const roundsOfPage = 200

export const listHeldRounds = handle(operations.wallet.listHeldRounds, async ({ input, scope }, { db }) => {
  const { roundId, day, cursor } = input
  if ((roundId === undefined) === (day === undefined))
    throw invalid(
      'query',
      roundId === undefined ? '/roundId' : '/day',
      'is one of roundId and day, of which one is required',
    )
  const whose = { providerId: providerOf(scope).id, brandId: scope.brandId }
  const after = cursor === undefined ? null : await findHeldPlace(db, cursor, whose)
  if (after === undefined) throw invalid('query', '/cursor', 'is not a cursor of this list')
  const [bounds] = day === undefined ? [] : await findDays(db, scope.brandId, day, day)
  const by = roundId === undefined ? bounds : { providerRoundId: roundId }
  if (by === undefined) return { data: [], nextCursor: null }
  const rounds = await listHeldRoundsOf(db, whose, by, { after, limit: roundsOfPage + 1 })
  const data = fitting(rounds.map(heldRound), roundsOfPage)
  return { data, nextCursor: rounds.length > data.length ? (rounds[data.length - 1]?.id ?? null) : null }
})

/** A round as its provider reads it. */
function heldRound(round: RoundRow): HeldRound {
  const { roundId, playerId, gameId, state, currency, staked, won, rolledBack, openedAt, closedAt } = teamRound(round)
  return { roundId, playerId, gameId, state, currency, staked, won, rolledBack, openedAt, closedAt }
}

export const closeRound = (ledger: Ledger) =>
  handle(operations.wallet.closeRound, async ({ input, scope }) => {
    const { playerId, roundId: providerRoundId, detailsUrl = null } = input
    const providerId = providerOf(scope).id
    const result = await post(ledger, scope, playerId, { message: 'close', providerId, providerRoundId, detailsUrl })
    if (result.outcome === 'not kept') throw Rejection.from(result as { code: ErrorCode })
    if (result.outcome !== 'round') throw unexpected(result, `the close of ${providerRoundId}`)
    const { round, replayed, balance } = result
    return {
      roundId: providerRoundId,
      roundState: round.state,
      replayed,
      balance: fromMinorUnits(balance),
      closedAt: round.closedAt?.toISOString() ?? null,
    }
  })
