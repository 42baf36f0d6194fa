import type { Transition } from '@backoffice/contracts'
import { withIsoTimes } from '@backoffice/service-runtime'
import type { StatusTransition } from '../domain/transition.ts'

/** The history that goes with a record as it is shown: later transitions are not true everywhere yet. */
export function shownTransitions(
  history: readonly StatusTransition[] = [],
  shown: { readonly version: number },
): Transition[] {
  return history.filter(({ version }) => version <= shown.version).map(withIsoTimes)
}
