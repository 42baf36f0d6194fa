import type { ErrorCode, Operation, Scope } from '@backoffice/contracts'

export const headerNames = {
  operationId: 'Operation-Id',
  requestId: 'Request-Id',
  /** Epoch milliseconds after which nobody waits for the reply. */
  deadline: 'Deadline',
} as const

export interface RequestMessage {
  readonly scope?: Scope
  readonly input: unknown
}

export type ReplyMessage =
  | { readonly body: unknown }
  | {
      readonly error: { readonly code: ErrorCode; readonly message: string; readonly details?: Record<string, unknown> }
    }

export const rpcSubject = (operation: Operation): string => `rpc.${operation.service}.${operation.id}`
/** The second token is the NATS user: a permission binds it, so nobody can act in another's name. */
export const teamSubject = (user: string, operation: Operation): string =>
  `team.${user}.${operation.service}.${operation.id}`

/** How long a caller waits when the operation says nothing else. */
export const timeoutMsDefault = 8_000
