// Rules.

import { caseTakenMinutes, Rejection } from '@backoffice/contracts'

/** An identity check that somebody of the team works on, so that nobody else does the same. */
export interface TakenCase {
  readonly playerId: string
  readonly takenBy: string
  readonly takenAt: Date
}

/** It ends by itself: people forget to give a case back. */
export const takenUntil = ({ takenAt }: Pick<TakenCase, 'takenAt'>): Date =>
  new Date(takenAt.getTime() + caseTakenMinutes * 60_000)

/** The case, as long as it counts as taken. */
export const takenNow = (taken: TakenCase | undefined, now: Date): TakenCase | undefined =>
  taken !== undefined && takenUntil(taken) > now ? taken : undefined

/** @throws {Rejection} KYC_TAKEN when somebody else has the case */
export function assertNotTakenByOther(taken: TakenCase | undefined, person: string, now: Date): void {
  const current = takenNow(taken, now)
  if (current === undefined || current.takenBy === person) return
  const { playerId, takenBy } = current
  throw new Rejection('KYC_TAKEN', { playerId, takenBy, until: takenUntil(current).toISOString() })
}
