import type { EventMessage, Scope } from '@backoffice/contracts'

interface RowBase {
  readonly id: string
  /** Rows of one aggregate leave in the order in which they were written. */
  readonly aggregate: string
  readonly name: string
}

export interface EventRow extends RowBase {
  readonly kind: 'event'
  readonly message: { readonly context: Readonly<Record<string, string>>; readonly event: EventMessage }
}

export interface CommandRow extends RowBase {
  readonly kind: 'command'
  readonly message: {
    readonly context: Readonly<Record<string, string>>
    readonly scope: Scope
    readonly input: unknown
  }
}

export type OutboxRow = EventRow | CommandRow
