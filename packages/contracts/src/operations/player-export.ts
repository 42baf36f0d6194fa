import { Type } from '@sinclair/typebox'
import { team } from '../operation.ts'
import { Id, Reason } from '../resources.ts'
import { described, Nullable, object, text } from '../schema.ts'

/**
 * One service's part of the export of one player, page by page: every row about the player, as it is stored. Copies of
 * these rows (stored replies, messages, deliveries) are left out.
 */
export const playerExport = () =>
  team.query({
    roles: ['compliance', 'auditor'],
    freshLogin: 'always',
    summary: 'Export everything that is stored about one player',
    body: object({
      playerId: Id,
      after: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'Go on after this row.' })),
      reason: described(Reason, 'Why, for example the request of the player; kept in the audit trail.'),
    }),
    reply: object({
      rows: Type.Array(
        object({
          table: Type.String(),
          /** Each column as text, so that no amount is rounded. */
          values: Type.Record(Type.String(), Nullable(Type.String())),
        }),
      ),
      nextCursor: Nullable(text(256)),
    }),
    discloses: true,
    timeoutMs: 30_000,
  })
