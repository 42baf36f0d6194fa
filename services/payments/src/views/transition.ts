import type { Transition } from '@backoffice/contracts'
import { withIsoTimes } from '@backoffice/service-runtime'
import type { StatusTransition } from '../domain/transition.ts'

/** The history up to the version of the record that is shown. Later transitions are not finished everywhere yet. */
export function shownTransitions(
  history: readonly StatusTransition[] = [],
  shown: { readonly version: number },
): Transition[] {
  return history.filter(({ version }) => version <= shown.version).map(withIsoTimes)
}
