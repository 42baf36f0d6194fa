import type { TakenCase as PublicTakenCase } from '@backoffice/contracts'
import { withIsoTimes } from '@backoffice/service-runtime'
import { type TakenCase, takenNow, takenUntil } from '../domain/taken-case.ts'

/** Who has a case now; null where nobody has it. */
export function shownTakenCase(taken: TakenCase | undefined, now: Date): PublicTakenCase | null {
  const current = takenNow(taken, now)
  return current === undefined
    ? null
    : withIsoTimes({ by: current.takenBy, at: current.takenAt, until: takenUntil(current) })
}
