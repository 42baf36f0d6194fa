import { Type } from '@sinclair/typebox'
import { team } from '../operation.ts'
import { EnvironmentName, Id, Timestamp } from '../resources.ts'
import { Nullable, object, optional, pageOf, text } from '../schema.ts'
import { everyRole } from '../team.ts'

const RequestId = Type.String({ minLength: 1, maxLength: 64, description: 'The X-Request-Id of the reply (req_…).' })

/** A request that was refused or failed. Never its body, a signature, a secret or a value out of it. */
const RefusedRequest = object({
  requestId: text(64),
  at: Timestamp,
  /** Null where no key that exists was sent, and where it was a provider's. */
  operatorId: Nullable(Id),
  operatorName: Nullable(text(64)),
  /** Of a provider of games. The release before does not say it. */
  providerId: Type.Optional(Nullable(Id)),
  providerName: Type.Optional(Nullable(text(64))),
  environment: Nullable(EnvironmentName),
  /** The public half, as it was sent. */
  key: Nullable(text(128)),
  /** Whether the signature was right, so that the operator is who sent it. */
  verified: Type.Boolean(),
  /** Null where no operation has this path and method. */
  operation: Nullable(text(64)),
  method: text(10),
  /** Without the query; what may be something else than the name of a path or an id of ours is `…`. */
  path: text(300),
  status: Type.Integer(),
  code: text(64),
  /** JSON pointers to what was wrong, separated by spaces. */
  fields: Nullable(text(400)),
  /** Of a wrong signature in the sandbox: what we would have signed. The body is there as its SHA-256. */
  canonicalString: Nullable(text(1_000)),
  hint: Nullable(text(300)),
  /** Whether a retry with the same Idempotency-Key tells what became of it. */
  outcomeKnown: Type.Boolean(),
  durationMs: Type.Integer(),
})

const KeyUse = object({
  operatorId: Id,
  operatorName: text(64),
  environment: EnvironmentName,
  operation: text(64),
  /** Null while it runs, and where its outcome is not known. */
  status: Nullable(Type.Integer()),
  /** Of a refusal. */
  code: Nullable(text(64)),
  /** Of the request whose reply is replayed. */
  requestId: Nullable(text(64)),
  /** The id that the reply begins with. */
  recordId: Nullable(text(64)),
  expiresAt: Timestamp,
})

/** What an operator asks about with an id out of its log. */
export const refusedRequestEntries = {
  listRefusedRequests: team.query({
    roles: everyRole,
    summary: 'List requests that were refused or failed, newest first',
    description:
      'Of the last seven days, without bodies. Of an operator or provider some thousands a day are kept. A refused bet is a play.',
    body: object({
      requestId: Type.Optional(RequestId),
      operatorId: Type.Optional(Id),
      providerId: Type.Optional(Id),
      environment: Type.Optional(EnvironmentName),
      code: optional(Type.String({ maxLength: 64 }), 'Only those refused with this code.'),
      before: optional(Id, 'Go on below this request.'),
      limit: Type.Integer({ minimum: 1, maximum: 1000 }),
    }),
    reply: object({
      ...pageOf(RefusedRequest).properties,
      /** Of the operator or provider and environment that were asked for, today (UTC): refused beyond what is kept. */
      notKeptToday: Type.Integer(),
    }),
  }),

  findIdempotencyKey: team.query({
    roles: everyRole,
    summary: 'Find what an Idempotency-Key was used for, by whichever operator',
    description: 'While replies are replayed: 24 hours.',
    body: object({
      key: Type.String({ minLength: 1, maxLength: 255, description: 'As it was sent.' }),
    }),
    reply: object({ data: Type.Array(KeyUse, { maxItems: 20 }) }),
  }),
}
