import type { Transition } from '@backoffice/contracts'
import type { StatusTransition } from '../domain/transition.ts'

/**
 * The history that goes with the state that is shown.
 * @param upTo the version of that state: later transitions are not true everywhere yet
 */
export function shownTransitions(
  history: readonly StatusTransition[],
  { upTo }: { readonly upTo: number },
): Transition[] {
  return history
    .filter(({ version }) => version <= upTo)
    .map((transition) => ({ ...transition, at: transition.at.toISOString() }))
}
