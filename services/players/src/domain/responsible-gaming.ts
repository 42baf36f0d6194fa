import type { PlayerStatus } from '@backoffice/contracts'

const coolingOffMs = 24 * 3_600_000

export interface Exclusion {
  readonly status: PlayerStatus
  readonly selfExcludedFrom: Date | null | undefined
  /** None while `selfExcludedFrom` is set: for good. */
  readonly selfExcludedUntil: Date | null | undefined
}

/** Whether a self-exclusion runs now, by its dates or by the status. */
export function isSelfExcluded({ status, selfExcludedFrom, selfExcludedUntil }: Exclusion, now: Date): boolean {
  if (status === 'autoexcluido') return true
  if (selfExcludedFrom == null || now < selfExcludedFrom) return false
  return selfExcludedUntil == null || now < selfExcludedUntil
}

/** Whether `until` is later than the end of the exclusion that runs; null is for good. */
export function isLonger(exclusion: Exclusion, until: Date | null, now: Date): boolean {
  if (until !== null && until <= now) return false
  if (!isSelfExcluded({ ...exclusion, status: 'ativo' }, now)) return true
  if (exclusion.selfExcludedUntil == null) return until === null
  return until === null || until >= exclusion.selfExcludedUntil
}

export interface DailyLimit {
  /** In minor units; none: no limit. */
  readonly dailyDepositLimit: bigint | null | undefined
  readonly pendingLimit: bigint | null | undefined
  /** When the pending limit, or the removal where it is none, takes effect. */
  readonly pendingLimitFrom: Date | null | undefined
}

/** The limit that holds now, in minor units; null: none. */
export function limitNow({ dailyDepositLimit, pendingLimit, pendingLimitFrom }: DailyLimit, now: Date): bigint | null {
  const pendingHolds = pendingLimitFrom != null && now >= pendingLimitFrom
  return (pendingHolds ? pendingLimit : dailyDepositLimit) ?? null
}

export interface NextDailyLimit {
  readonly dailyDepositLimit: bigint | null
  readonly pendingLimit: bigint | null
  readonly pendingLimitFrom: Date | null
}

/** A first limit or a lower one holds at once; a higher one, or none, only after the cooling-off. A later wish replaces one that waits. */
export function changeLimit(limit: DailyLimit, wished: bigint | null, now: Date): NextDailyLimit {
  const current = limitNow(limit, now)
  const tightens = current === null || (wished !== null && wished <= current)
  if (tightens) return { dailyDepositLimit: wished, pendingLimit: null, pendingLimitFrom: null }
  return { dailyDepositLimit: current, pendingLimit: wished, pendingLimitFrom: new Date(now.getTime() + coolingOffMs) }
}
