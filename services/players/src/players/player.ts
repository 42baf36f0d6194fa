// Rules.

import {
  cpfDigits,
  fromMinorUnits,
  type IdOf,
  type IdPrefix,
  type Input,
  invalid,
  type KycDecision,
  type KycStatus,
  type operations,
  type PlayerStatus,
  Rejection,
  type Scope,
} from '@backoffice/contracts'

/** A player as it is stored. */
export interface PlayerRecord extends Readonly<Scope> {
  readonly id: IdOf<'player'>
  readonly externalId: string
  readonly name: string
  readonly email: string
  readonly cpf: string
  readonly phone: string | null
  /** As YYYY-MM-DD. */
  readonly birthDate: string
  readonly status: PlayerStatus
  readonly kycStatus: KycStatus
  /** Rises with whatever an event tells of the player: receivers drop what is older. */
  readonly kycVersion: number
  readonly kycDecidedAt: Date | null
  readonly kycReason: string | null
  /** When the approval ends by itself. Null: it does not, or there is none. */
  readonly kycExpiresAt: Date | null
  readonly selfExcludedFrom: Date | null
  /** Null while `selfExcludedFrom` is set means for good. */
  readonly selfExcludedUntil: Date | null
  /** In minor units; null means no limit. */
  readonly dailyDepositLimit: bigint | null
  readonly pendingLimit: bigint | null
  /** When the pending limit takes effect. Without a pending limit it is when the limit is removed. */
  readonly pendingLimitFrom: Date | null
  readonly createdAt: Date
}

/** The result of a change: the record as it is now, and what has changed, which is nothing when it was so before. */
export interface ChangedPlayer<P> {
  readonly player: P
  readonly change: FieldChange | null
}

export interface FieldChange {
  readonly field: 'status' | 'kycStatus' | 'selfExclusion' | 'dailyDepositLimit' | 'identity'
  readonly previous: string | null
  readonly next: string | null
}

/**
 * A new player, who may do everything that needs no identity check.
 * @throws {Rejection} VALIDATION_ERROR when the player is not over 18, by the date where the brand is, or born before 1900
 */
export function register(
  request: Input<typeof operations.players.registerPlayer>,
  { operatorId, brandId, environment, currency, timeZone }: Scope,
  { now, newId }: { readonly now: Date; readonly newId: (prefix: IdPrefix) => string },
): PlayerRecord {
  const today = calendarDay(now, timeZone)
  if (request.birthDate < bornFrom || request.birthDate > today)
    throw invalid('body', '/birthDate', `must lie between ${bornFrom} and today`)
  if (!isAdult(request.birthDate, today)) throw invalid('body', '/birthDate', 'the player must be over 18')
  const { externalId, name, email, cpf, phone = null, birthDate } = request
  return {
    ...{ id: newId('ply'), operatorId, brandId, environment, currency, timeZone },
    ...{ externalId, name, email, cpf: cpfDigits(cpf) ?? cpf, phone, birthDate },
    ...{ status: 'ativo', kycStatus: 'nao_iniciado', kycVersion: 1 },
    ...{ kycDecidedAt: null, kycReason: null, kycExpiresAt: null },
    ...{ selfExcludedFrom: null, selfExcludedUntil: null },
    ...{ dailyDepositLimit: null, pendingLimit: null, pendingLimitFrom: null },
    createdAt: now,
  }
}

/**
 * Sets the status, which says what a player may do now. A self-exclusion by dates goes on whatever the status is.
 * @throws {Rejection} VALIDATION_ERROR for an anonymised player, who stays `encerrado`: nobody knows whose it would be
 */
export function setStatus<P extends Pick<PlayerRecord, 'status' | 'cpf'>>(
  player: P,
  next: PlayerStatus,
): ChangedPlayer<P> {
  const { status: previous } = player
  if (previous === next) return { player, change: null }
  if (isAnonymised(player)) throw invalid('body', '/status', 'an anonymised player stays encerrado')
  return { player: { ...player, status: next }, change: { field: 'status', previous, next } }
}

const adultYears = 18
const bornFrom = '1900-01-01'

/** The calendar day at a moment in a time zone, as YYYY-MM-DD. */
export function calendarDay(now: Date, timeZone: string): string {
  // The Swedish locale writes dates as ISO 8601 does.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(now)
}

/**
 * Whether the 18th birthday has been reached on a day. A birthday on 29 February is reached on 1 March in common years.
 * @param birthDate and `today` as YYYY-MM-DD
 */
export function isAdult(birthDate: string, today: string): boolean {
  // Of today, and not added to the birth date: a year of five digits would come before all others.
  const year = Number(today.slice(0, 4)) - adultYears
  return birthDate <= `${year}${today.slice(4)}`
}

/** Letters that Unicode does not take apart, and what people type who do not have them. */
export const stroked = { letters: 'łŁøØđĐħĦ', plain: 'lLoOdDhH' } as const

/** What other services and the history say about a player. */
export interface Obligations {
  /** In minor units. */
  readonly posted: bigint
  readonly held: bigint
  readonly openDeposits: number
  readonly openWithdrawals: number
  /** Of games: they may still be won. */
  readonly openRounds: number
  /** The last change of anything that is kept about the player. */
  readonly lastChangeAt: Date
}

/** Time and ids are passed in. */
interface TimeAndIds {
  readonly now: Date
  readonly newId: (prefix: IdPrefix) => string
}

/** Why the data of a player may not be replaced yet. */
type Need = 'status' | 'self_exclusion' | 'money' | 'deposits' | 'withdrawals' | 'rounds' | 'retention'

/** No real person has such a name, number or birth date; no player is registered with that CPF. */
const nobody = {
  name: 'anonymised',
  email: 'anonymised@anonymised.invalid',
  cpf: '00000000000',
  phone: null,
  birthDate: '1900-01-01',
  kycReason: null,
} as const

export const isAnonymised = ({ cpf }: Pick<PlayerRecord, 'cpf'>) => cpf === nobody.cpf

/**
 * Replaces everything that identifies the person. Nothing can bring it back. A player that is anonymised already stays as
 * it is.
 * @param keepYears how long the law asks to keep the records, from the last change on
 * @param isExcluded whether a self-exclusion of the person runs
 * @throws {Rejection} PLAYER_DATA_NEEDED with all reasons
 */
export function anonymise(
  player: PlayerRecord,
  obligations: Obligations,
  { now, newId, keepYears, isExcluded }: TimeAndIds & { readonly keepYears: number; readonly isExcluded: boolean },
): ChangedPlayer<PlayerRecord> {
  if (isAnonymised(player)) return { player, change: null }
  const keptUntil = yearsAfter(obligations.lastChangeAt, keepYears)
  const needs: Readonly<Record<Need, boolean>> = {
    status: player.status !== 'encerrado',
    // As long as it runs, the person must be known by the CPF.
    self_exclusion: isExcluded,
    money: obligations.posted !== 0n || obligations.held !== 0n,
    deposits: obligations.openDeposits > 0,
    withdrawals: obligations.openWithdrawals > 0,
    rounds: obligations.openRounds > 0,
    retention: now < keptUntil,
  }
  const reasons = Object.entries(needs).flatMap(([need, isNeeded]) => (isNeeded ? [need] : []))
  if (reasons.length > 0) throw new Rejection('PLAYER_DATA_NEEDED', { reasons, keptUntil: keptUntil.toISOString() })
  return {
    // A new id, so that no operator can have registered another player under it.
    player: { ...player, ...nobody, externalId: `anonymised-${newId('ply')}` },
    change: { field: 'identity', previous: null, next: 'anonymised' },
  }
}

function yearsAfter(date: Date, years: number): Date {
  const later = new Date(date)
  later.setUTCFullYear(later.getUTCFullYear() + years)
  return later
}

export const coolingOffMs = 24 * 3_600_000

type Exclusion = Pick<PlayerRecord, 'status' | 'selfExcludedFrom' | 'selfExcludedUntil'>

/** Whether the player is self-excluded now, by dates or by status. */
export function isSelfExcluded({ status, selfExcludedFrom, selfExcludedUntil }: Exclusion, now: Date): boolean {
  if (status === 'autoexcluido') return true
  // It begins with the wish, so by a clock that has gone back it runs as well.
  return selfExcludedFrom !== null && (selfExcludedUntil === null || now < selfExcludedUntil)
}

/** What a player says about the self-exclusion of its person. */
export type PersonExclusion = Exclusion & Pick<PlayerRecord, 'id'>

/** How everybody sees a player at a moment: what has run out by then counts no longer. */
interface Seen {
  readonly seenAt: Date
  /** What was set, and is seen again when no self-exclusion runs. */
  readonly statusSet: PlayerStatus
  /** The player by which the person is self-excluded: this one, or another of the brand's with the same CPF. */
  readonly excludedBy: string | null
  /** When it ends: with the last one that runs. Null: for good, or none runs. */
  readonly excludedUntil: Date | null
}
export type SeenPlayer<P = PlayerRecord> = P & Seen
/** @param others the brand's players of the same person */
type Judged = PersonExclusion & KycRecord
export function seenPlayer<P extends Judged>(player: P, others: readonly PersonExclusion[], now: Date): SeenPlayer<P> {
  const running = [player, ...others].filter((one) => isSelfExcluded(one, now))
  const excludedBy = running[0]?.id ?? null
  const { status: statusSet } = player
  const status = excludedBy === null ? statusSet : 'autoexcluido'
  return { ...kycAt(player, now), seenAt: now, status, statusSet, excludedBy, excludedUntil: lastEnd(running) }
}

/** Of a status that the team has set, nobody said until when. */
function lastEnd(running: readonly Exclusion[]): Date | null {
  const ends = running.map(({ status, selfExcludedUntil }) => (status === 'autoexcluido' ? null : selfExcludedUntil))
  return ends.reduce((last, end) => (last === null || end === null ? null : end > last ? end : last), ends[0] ?? null)
}

const forGood = 'for good'

/**
 * Excludes a player until a time, or for good (null). A running exclusion gets a later end. One that has ended begins
 * again.
 * @throws {Rejection} VALIDATION_ERROR when `until` is in the past, or would make the running exclusion shorter
 */
export function selfExclude<P extends Exclusion>(player: P, until: Date | null, now: Date): ChangedPlayer<P> {
  if (!isLonger(player, until, now)) {
    throw invalid('body', '/until', 'must be in the future, and no earlier than the end of the exclusion that runs')
  }
  const { selfExcludedFrom, selfExcludedUntil } = player
  const hasEnded = selfExcludedUntil !== null && selfExcludedUntil <= now
  const from = selfExcludedFrom === null || hasEnded ? now : selfExcludedFrom
  return {
    player: { ...player, selfExcludedFrom: from, selfExcludedUntil: until },
    change: {
      field: 'selfExclusion',
      previous: selfExcludedFrom === null ? null : (selfExcludedUntil?.toISOString() ?? forGood),
      next: until?.toISOString() ?? forGood,
    },
  }
}

/** Whether `until` is later than the end of the running exclusion; null means for good. */
function isLonger(exclusion: Exclusion, until: Date | null, now: Date): boolean {
  if (until !== null && until <= now) return false
  if (!isSelfExcluded({ ...exclusion, status: 'ativo' }, now)) return true
  if (exclusion.selfExcludedUntil === null) return until === null
  return until === null || until >= exclusion.selfExcludedUntil
}

type DailyLimit = Pick<PlayerRecord, 'dailyDepositLimit' | 'pendingLimit' | 'pendingLimitFrom'>

/** The limit that holds now, in minor units; null means no limit. */
export function limitNow({ dailyDepositLimit, pendingLimit, pendingLimitFrom }: DailyLimit, now: Date): bigint | null {
  return pendingLimitFrom !== null && now >= pendingLimitFrom ? pendingLimit : dailyDepositLimit
}

/**
 * A first limit or a lower one holds at once. A higher one, or none, holds only after the cooling-off. A later wish
 * replaces one that still waits.
 * @param wished in minor units; null: no limit
 */
export function setLimit<P extends DailyLimit>(player: P, wished: bigint | null, now: Date): ChangedPlayer<P> {
  const current = limitNow(player, now)
  const tightens = current === null || (wished !== null && wished <= current)
  const next = tightens
    ? { dailyDepositLimit: wished, pendingLimit: null, pendingLimitFrom: null }
    : { dailyDepositLimit: current, pendingLimit: wished, pendingLimitFrom: new Date(now.getTime() + coolingOffMs) }
  return {
    player: { ...player, ...next },
    change: { field: 'dailyDepositLimit', previous: amountOf(current), next: amountOf(wished) },
  }
}

const amountOf = (limit: bigint | null) => (limit === null ? null : fromMinorUnits(limit))

type KycRecord = Pick<PlayerRecord, 'kycStatus' | 'kycVersion' | 'kycDecidedAt' | 'kycReason' | 'kycExpiresAt'>

/**
 * A submission: whatever the status was, the documents are now under analysis.
 * @throws {Rejection} KYC_ALREADY_APPROVED
 */
export function submit<P extends KycRecord>(player: P): ChangedPlayer<P> {
  if (player.kycStatus === 'aprovado') throw new Rejection('KYC_ALREADY_APPROVED')
  return moveTo(player, 'em_analise')
}

/** The end of an approval, as the operator reads it. */
export const expiredReason = 'the approval has ended'

/** An approval ends. */
export function expire<P extends KycRecord>(player: P): ChangedPlayer<P> {
  const { player: expired, change } = moveTo(player, 'expirado')
  return { player: { ...expired, kycReason: expiredReason }, change }
}

/** The record as it is at a moment: an approval ends with its term, whether that was written down yet or not. */
export function kycAt<P extends KycRecord>(player: P, now: Date): P {
  const { kycStatus, kycExpiresAt } = player
  const hasEnded = kycStatus === 'aprovado' && kycExpiresAt !== null && now >= kycExpiresAt
  return hasEnded ? expire(player).player : player
}

/**
 * A decision. The same status again changes nothing and sends no event.
 * @param termMs how long an approval holds; null: until the next decision
 */
export function decide<P extends KycRecord>(
  player: P,
  decision: { readonly status: KycDecision; readonly reason: string | null; readonly termMs: number | null },
  now: Date,
): ChangedPlayer<P> {
  const { status, reason, termMs } = decision
  const { player: moved, change } = moveTo(player, status)
  if (change === null) return { player, change }
  const kycExpiresAt = status === 'aprovado' && termMs !== null ? new Date(now.getTime() + termMs) : null
  return { player: { ...moved, kycDecidedAt: now, kycReason: reason, kycExpiresAt }, change }
}

/**
 * The version rises with every change, even with one that sends no event, so that a later event has a higher version.
 */
function moveTo<P extends KycRecord>(player: P, next: KycStatus): ChangedPlayer<P> {
  const { kycStatus: previous, kycVersion } = player
  if (previous === next) return { player, change: null }
  return {
    player: { ...player, kycStatus: next, kycVersion: kycVersion + 1, kycExpiresAt: null },
    change: { field: 'kycStatus', previous, next },
  }
}
