// Rules.

import type { TransitionActor } from '@backoffice/contracts'

/** One change of a record's status: who made it, when, and why. The history of a record is never rewritten. */
export interface StatusTransition {
  readonly version: number
  /** null: the record was created. */
  readonly from: string | null
  readonly to: string
  readonly at: Date
  readonly by: TransitionActor
  readonly reason: string | null
}

/** The circumstances of a change. They are passed in so that the rules stay pure. */
export interface ChangeContext {
  readonly at: Date
  readonly by: TransitionActor
  readonly reason?: string | undefined
}
