import type { Transition } from '@backoffice/contracts'

/** Each change of status of a deposit or a withdrawal. What the operator did stands under its name. */
export const historyOf = (transitions: readonly Transition[], operator: string) =>
  transitions.map(({ at, by, from, to, reason }) => ({
    at,
    who: by.kind === 'operator' ? operator : by.name,
    from,
    to,
    reason,
  }))
