import { type Static, Type } from '@sinclair/typebox'
import { operation, type ServiceName } from '../operation.ts'
import { Nullable, Timestamp } from '../resources.ts'

/**
 * Resolves an operation id whose outcome its caller does not know: answers the stored reply, or else writes a tombstone
 * that fences any late message with that id. Every service answers it.
 */
export const abandonOperation = (service: ServiceName) =>
  operation({
    id: 'abandonOperation',
    service,
    audience: 'internal',
    kind: 'posting',
    callers: ['gateway'],
    summary: 'Resolve an operation of unknown outcome',
    body: Type.Object(
      { abandonedOperationId: Type.String({ minLength: 1, maxLength: 64 }) },
      { additionalProperties: false },
    ),
    reply: Type.Object(
      {
        outcome: Type.Union([Type.Literal('replied'), Type.Literal('refused'), Type.Literal('abandoned')]),
        /** The reply's body when `replied`; {code, message, details} when `refused`; null when `abandoned`. */
        reply: Type.Unknown(),
      },
      { additionalProperties: false },
    ),
  })

export const AuditEntry = Type.Object(
  {
    id: Type.String(),
    at: Timestamp,
    actor: Type.String(),
    operation: Type.String(),
    operationId: Type.String(),
    subject: Nullable(Type.String()),
    reason: Nullable(Type.String()),
    input: Type.Unknown(),
  },
  { additionalProperties: false },
)
export type AuditEntry = Static<typeof AuditEntry>

/** The team's actions in one service, newest first. Every service answers it. */
export const listAudit = (service: ServiceName) =>
  operation({
    id: 'listAudit',
    service,
    audience: 'team',
    kind: 'query',
    summary: "List the team's actions",
    body: Type.Object(
      {
        actor: Type.Optional(Type.String()),
        subject: Type.Optional(Type.String()),
        since: Type.Optional(Timestamp),
        limit: Type.Integer({ minimum: 1, maximum: 1000 }),
      },
      { additionalProperties: false },
    ),
    reply: Type.Object({ data: Type.Array(AuditEntry) }, { additionalProperties: false }),
  })
