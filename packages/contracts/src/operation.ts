import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { ErrorCode } from './errors.ts'

export const serviceNames = ['gateway', 'players', 'wallet', 'payments', 'webhooks'] as const
export type ServiceName = (typeof serviceNames)[number]

/**
 * Who may call an operation: `public` without credentials, `operator` and `sandbox` by a signed request, `internal`
 * from one service to another, `team` by a person of the service's own team.
 */
export type Audience = 'public' | 'operator' | 'sandbox' | 'internal' | 'team'
export type HttpMethod = 'GET' | 'POST'

/** The groups of public operations, in the order of a typical integration. */
export const tags = {
  Account: 'The credential, its operator, brand and environment.',
  Players: 'Registration and lookup by your own identifier.',
  KYC: 'Identity checks: you register submissions, the team decides.',
  Deposits: 'You collect the payment; the wallet is credited on confirm.',
  Wallet: 'Balance and ledger (extrato).',
  Games: 'Catalogue and game sessions.',
  Withdrawals: 'Requests that the team reviews and pays.',
  Webhooks: 'Signed callbacks to your server.',
  Sandbox: "Simulate the team's decisions. Production answers 403 SANDBOX_ONLY.",
  Documents: 'Public documents, without authentication.',
} as const
export type Tag = keyof typeof tags

/** The operator, brand and environment that a call acts for; the gateway takes it from the credential, never from input. */
export const Scope = Type.Object(
  {
    operatorId: Type.String(),
    brandId: Type.String(),
    environment: Type.Union([Type.Literal('sandbox'), Type.Literal('production')]),
    currency: Type.String({ pattern: '^[A-Z]{3}$' }),
    /** IANA name; a calendar day of this brand begins and ends there. */
    timeZone: Type.String(),
  },
  { additionalProperties: false },
)
export type Scope = Static<typeof Scope>
export type Environment = Scope['environment']

interface OperationBase {
  readonly id: string
  readonly service: ServiceName
  readonly audience: Audience
  /** A command runs once per operation id, in one transaction; a query changes nothing; a posting is idempotent by the reference in its input. */
  readonly kind: 'query' | 'command' | 'posting'
  readonly summary: string
  readonly description?: string
  readonly tag?: Tag
  readonly http?: { readonly method: HttpMethod; readonly path: string; readonly status: number }
  /** `required`: the HTTP route demands an Idempotency-Key. */
  readonly idempotency: 'required' | 'none'
  /** The services that may call an internal operation; the broker's permissions say the same (deploy/nats). */
  readonly callers?: readonly ServiceName[]
  /** In order of precedence; those of every authenticated route (see `commonRejects`) are not repeated here. */
  readonly rejects: readonly ErrorCode[]
  readonly timeoutMs?: number
  readonly example?: {
    readonly params?: Readonly<Record<string, string>>
    readonly query?: Readonly<Record<string, string>>
    readonly body?: unknown
    readonly reply?: unknown
  }
}

type Empty = TObject<Record<never, never>>

export interface Operation<
  Id extends string = string,
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TObject = TObject,
  Reply extends TSchema = TSchema,
> extends OperationBase {
  readonly id: Id
  readonly params: Params
  readonly query: Query
  /** null: the operation takes no body. */
  readonly body: Body
  readonly hasBody: boolean
  /** Where the entry stands in its file: readers meet the operations in this order. */
  readonly position: number
  readonly reply: Reply
}

export type Input<O> =
  O extends Operation<string, infer P, infer Q, infer B, TSchema> ? Static<P> & Static<Q> & Static<B> : never
export type Reply<O> = O extends Operation<string, TObject, TObject, TObject, infer R> ? Static<R> : never

const nothing = Type.Object({}, { additionalProperties: false })

let declared = 0

/** Declares one entry of the operation table. Names must not clash between params, query and body: a service sees them as one input. */
export function operation<
  const Id extends string,
  R extends TSchema,
  P extends TObject = Empty,
  Q extends TObject = Empty,
  B extends TObject = Empty,
>(
  entry: Omit<OperationBase, 'id' | 'idempotency' | 'rejects'> & {
    readonly id: Id
    readonly idempotency?: 'required' | 'none'
    readonly rejects?: readonly ErrorCode[]
    readonly params?: P
    readonly query?: Q
    readonly body?: B
    readonly reply: R
  },
): Operation<Id, P, Q, B, R> {
  const { params, query, body, ...rest } = entry
  return {
    idempotency: 'none',
    rejects: [],
    ...rest,
    params: params ?? (nothing as unknown as P),
    query: query ?? (nothing as unknown as Q),
    body: body ?? (nothing as unknown as B),
    hasBody: body !== undefined,
    position: declared++,
  }
}
