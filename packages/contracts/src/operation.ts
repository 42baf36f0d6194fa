import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { type ErrorCode, errorCatalogue } from './errors.ts'
import { maskable } from './personal.ts'
import { type Environment, EnvironmentName } from './resources.ts'
import { object, text } from './schema.ts'
import { type TeamRole, unmaskRoles } from './team.ts'

export const serviceNames = ['gateway', 'players', 'wallet', 'payments', 'webhooks', 'reconciler'] as const
export type ServiceName = (typeof serviceNames)[number]

/** Those that always run. On one machine the reconciler runs while somebody asks it, or when a run is due. */
export const residentServices: readonly Exclude<ServiceName, 'reconciler'>[] = serviceNames.filter(
  (name) => name !== 'reconciler',
)

/**
 * Who logs in to PostgreSQL: every service, for the schema that it owns, and the public games, which have their sessions
 * and their catalogue in the schema of players.
 */
export type DatabaseRole = ServiceName | 'games'
export const databaseRoles: readonly DatabaseRole[] = [...serviceNames, 'games']

/** The PostgreSQL login role. */
export const roleName = (name: DatabaseRole): string => `backoffice_${name}`

/** For whom an operation is: see `audiences`. */
export type Audience = 'public' | 'operator' | 'sandbox' | 'provider' | 'internal' | 'team'

/** What holds for all operations of one audience. */
interface AudienceEntry {
  readonly caller: 'anybody' | 'operator' | 'provider' | 'service' | 'person'
  /** How that is proven. A person of the team signs each call; for a service its user of the broker stands. */
  readonly proof: 'none' | 'signed request' | "provider's signed request" | 'signed call' | 'user of the broker'
  /** The only environment in which it may be called; each where absent. */
  readonly onlyIn?: Environment
  /** A call acts for the brand of its scope. What is about a record of any brand has no scope. */
  readonly isScoped: boolean
  /** A call may be sent again while its reply is awaited, because a replica that hangs may have taken it. */
  readonly isSentAgain: boolean
  /** A reply with what is shown once, or what is masked otherwise, is sealed to whoever asked. */
  readonly isSealed: boolean
  /** What refuses a request before its body and key are looked at, its limits included; in order of precedence. */
  readonly admission: readonly ErrorCode[]
  /** What a service may refuse any call with, whatever the operation. */
  readonly anyCall: readonly ErrorCode[]
}

const ofOperators: AudienceEntry = {
  caller: 'operator',
  proof: 'signed request',
  isScoped: true,
  isSentAgain: true,
  isSealed: false,
  admission: [
    'INVALID_CREDENTIALS',
    'TIMESTAMP_OUT_OF_RANGE',
    'INVALID_SIGNATURE',
    'OPERATOR_SUSPENDED',
    'FORBIDDEN_IP',
    'RATE_LIMITED',
  ],
  anyCall: [],
}

/** Who may call an operation, how they prove who they are, and what holds for their calls. */
export const audiences: Readonly<Record<Audience, AudienceEntry>> = {
  public: { ...ofOperators, caller: 'anybody', proof: 'none', admission: [] },
  operator: ofOperators,
  sandbox: {
    ...ofOperators,
    onlyIn: 'sandbox',
    admission: [...ofOperators.admission, 'SANDBOX_ONLY'],
    anyCall: ['SANDBOX_ONLY'],
  },
  // A provider names its brand in the path; what it was granted says whether it may.
  provider: {
    ...ofOperators,
    caller: 'provider',
    proof: "provider's signed request",
    admission: [
      'INVALID_CREDENTIALS',
      'TIMESTAMP_OUT_OF_RANGE',
      'INVALID_SIGNATURE',
      'FORBIDDEN_IP',
      'BRAND_NOT_GRANTED',
      'RATE_LIMITED',
    ],
  },
  internal: { ...ofOperators, caller: 'service', proof: 'user of the broker', isSealed: true },
  team: {
    caller: 'person',
    proof: 'signed call',
    isScoped: false,
    // A person waits, and may see a secret in the first reply only.
    isSentAgain: false,
    isSealed: true,
    admission: [],
    // Somebody is not who they say, or may not do this, or not alone.
    anyCall: [
      'LOGIN_REQUIRED',
      'FRESH_LOGIN_REQUIRED',
      'ROLE_REQUIRED',
      'SIGNATURE_REQUIRED',
      'AWAITS_APPROVAL',
      'PROPOSAL_NOT_FOUND',
      'PROPOSAL_NOT_OPEN',
      'TWO_PEOPLE_REQUIRED',
    ],
  },
}

/**
 * How an operation runs.
 *
 * - `query`: changes nothing.
 * - `command`: runs once per operation id, in one transaction that also stores its reply.
 * - `direct`: a change that keeps its own transactions. It is idempotent by a reference in its input, or it has no
 *   stored reply and does its work again each time.
 */
export type OperationKind = 'query' | 'command' | 'direct'

export type HttpMethod = 'GET' | 'POST'
export interface HttpRoute {
  readonly method: HttpMethod
  readonly path: string
  /** The status of a reply that is no refusal. */
  readonly status: number
}
export const get = (path: string): HttpRoute => ({ method: 'GET', path, status: 200 })
export const post = (path: string, status: 200 | 201 = 200): HttpRoute => ({ method: 'POST', path, status })

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
  Play: "A provider's bets, wins and rollbacks; on a surface of its own.",
  Sandbox: "Simulate the team's decisions. Production answers 403 SANDBOX_ONLY.",
  Documents: 'Public documents, without authentication.',
} as const
export type Tag = keyof typeof tags

/**
 * The operator, brand and environment that a call acts for. The gateway takes them from the credential, never from the
 * input.
 */
export const Scope = object({
  operatorId: text(64),
  brandId: text(64),
  environment: EnvironmentName,
  currency: Type.String({ pattern: '^[A-Z]{3}$' }),
  /** IANA name. The brand's calendar day begins and ends at midnight there. */
  timeZone: text(64),
  /** Where a provider of games called: which one, and what it signed. */
  provider: Type.Optional(
    object({
      id: text(64),
      /** SHA-256 of the body as it came, in hex. */
      bodyDigest: text(64),
      /** Stakes are refused with this; what was begun is settled. */
      stakesRefusedWith: Type.Optional(
        Type.Union([Type.Literal('OPERATOR_SUSPENDED'), Type.Literal('PROVIDER_SUSPENDED')]),
      ),
    }),
  ),
})
export type Scope = Static<typeof Scope>

/** Always, or for inputs with these values. */
export type Condition = 'always' | { readonly when: Readonly<Record<string, string | boolean>> }

export const holdsFor = (condition: Condition, input: Readonly<Record<string, unknown>>): boolean =>
  condition === 'always' || Object.entries(condition.when).every(([name, value]) => input[name] === value)

/** The roles of which any is enough for a call of the team. */
export const rolesThatMay = (
  { roles = [] }: Pick<Facts, 'roles'>,
  input: Readonly<Record<string, unknown>>,
): readonly TeamRole[] => (input.unmask === true ? unmaskRoles : roles)

export interface StoredAmount {
  readonly bytes: number
  readonly rows: number
}

interface Facts {
  readonly summary: string
  readonly description?: string
  readonly tag?: Tag
  readonly http?: HttpRoute
  /** It is to end: both days (YYYY-MM-DD) go into the headers `Deprecation` and `Sunset`, and into the OpenAPI document. */
  readonly deprecated?: { readonly since: string; readonly sunset: string }
  /** The services that may call an internal operation; the broker's permissions say the same (deploy/nats). */
  readonly callers?: readonly ServiceName[]
  /** How long a caller waits; the limit of every call when absent (`limits.ts` of process). */
  readonly timeoutMs?: number
  /**
   * A call is never sent a second time while its reply is awaited: done twice at once it is not what it is when done once,
   * or it takes long because of somebody else.
   */
  readonly sentOnce?: true
  /** What may be stored of one call, where it is more than `storedBytesMax`: for the team's, which are few. */
  readonly storedBytesMax?: number
  /**
   * What a call of an operator makes all services keep at most, with all that follows from it, besides what grows with its
   * body: what quotas count. `reserved`: that was counted with the record that it ends.
   */
  readonly stores?: StoredAmount | 'reserved'
  /** A query of the team whose reply is not masked. It needs a reason. */
  readonly discloses?: true
  /** The console may call it for a person without their signature, although it is no query: nobody gains by it. */
  readonly delegable?: true
  /** Nobody of the team calls it: a logout token of the identity provider does, which the console passes on. */
  readonly byIdentityProvider?: true
  /** Who of the team may call it: any of these roles is enough. Every operation of the team says so. */
  readonly roles?: readonly TeamRole[]
  /** Takes a login of the last minutes, since somebody may have left their desk. */
  readonly freshLogin?: Condition
  /**
   * Takes two people: the first call proposes, and the same call by somebody else carries it out. `in production`: where
   * what it is about belongs there and is of that kind, which the service looks up. Below an amount that the settings name, one is
   * enough.
   */
  readonly twoPeople?: Condition | 'in production'
  /** The service also does this without a person. Its audit entry then has no signature; every other entry has one. */
  readonly alsoByItself?: true
}

/** A call and its reply, for the reader: what the schemas say of them, so that a wrong one does not compile. */
interface Example<P extends TObject, Q extends TObject, B extends TObject, R extends TSchema> {
  readonly params?: Static<P>
  /** As it is written in the URL. */
  readonly query?: Readonly<Partial<Record<keyof Static<Q>, string>>>
  readonly body?: Static<B>
  readonly reply?: Static<R>
}
type AnyExample = { readonly [Part in 'params' | 'query']?: Readonly<Record<string, string>> } & {
  readonly [Part in 'body' | 'reply']?: unknown
}

/** One line of a service's table, before `service()` gives it the id and the service. */
export interface OperationEntry<
  Kind extends OperationKind = OperationKind,
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TObject = TObject,
  Reply extends TSchema = TSchema,
  For extends Audience = Audience,
> extends Facts {
  readonly audience: For
  readonly kind: Kind
  /** `required`: the HTTP route demands an Idempotency-Key. */
  readonly idempotency: 'required' | 'none'
  /** In order of precedence. The codes of every authenticated route (see `commonRejects`) are not repeated here. */
  readonly rejects: readonly ErrorCode[]
  readonly params: Params
  readonly query: Query
  /** Without fields when the operation takes no body. */
  readonly body: Body
  readonly hasBody: boolean
  readonly reply: Reply
  readonly example?: AnyExample
}

export interface Operation<
  Id extends string = string,
  Kind extends OperationKind = OperationKind,
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TObject = TObject,
  Reply extends TSchema = TSchema,
  For extends Audience = Audience,
> extends OperationEntry<Kind, Params, Query, Body, Reply, For> {
  readonly id: Id
  readonly service: ServiceName
}
/** Params, query and body as one object: a service does not see where a field came from. */
export type Input<O> =
  O extends Operation<string, OperationKind, infer P, infer Q, infer B> ? Static<P> & Static<Q> & Static<B> : never
export type Reply<O> =
  O extends Operation<string, OperationKind, TObject, TObject, TObject, infer R> ? Static<R> : never

type Empty = TObject<Record<never, never>>
const nothing = object({})

/** What is written in the table. Names must not clash between params, query and body, because they become one input. */
type Written<P extends TObject, Q extends TObject, B extends TObject, R extends TSchema> = Facts & {
  readonly idempotency?: 'required' | 'none'
  readonly rejects?: readonly ErrorCode[]
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  readonly reply: R
  readonly example?: NoInfer<Example<P, Q, B, R>>
}

function builder<For extends Audience, Kind extends OperationKind>(audience: For, kind: Kind) {
  return <R extends TSchema, P extends TObject = Empty, Q extends TObject = Empty, B extends TObject = Empty>(
    written: Written<P, Q, B, R> & (For extends 'team' ? { readonly roles: readonly TeamRole[] } : unknown),
  ): OperationEntry<Kind, P, Q, B, R, For> => {
    const { params, query, body, reply, example, ...rest }: Written<P, Q, B, R> = written
    return {
      idempotency: 'none',
      rejects: [],
      ...rest,
      ...(example === undefined ? {} : { example: example as AnyExample }),
      // The team reads masked values, unless it asks for one person's with a reason.
      reply: audiences[audience].caller === 'person' && !written.discloses ? maskable(reply) : reply,
      audience,
      kind,
      params: params ?? (nothing as unknown as P),
      query: query ?? (nothing as unknown as Q),
      body: body ?? (nothing as unknown as B),
      hasBody: body !== undefined,
    }
  }
}

const builders = <For extends Audience>(audience: For) => ({
  query: builder(audience, 'query'),
  command: builder(audience, 'command'),
  direct: builder(audience, 'direct'),
})

export const operator = builders('operator')
export const sandbox = builders('sandbox')
export const provider = builders('provider')
export const internal = builders('internal')
export const team = builders('team')

/** A public document, read with GET and without credentials. */
export const document = <R extends TSchema>(written: Facts & { readonly reply: R }) =>
  builder('public', 'query')({ tag: 'Documents', ...written })

/** The codes of every authenticated route besides its own `rejects`, in order of precedence. */
export function commonRejects(operation: Operation): ErrorCode[] {
  const { proof, admission } = audiences[operation.audience]
  if (proof === 'none') return ['HEADERS_TOO_LARGE', 'INTERNAL_ERROR']
  const codes: ErrorCode[] = ['HEADERS_TOO_LARGE']
  if (operation.hasBody) codes.push('PAYLOAD_TOO_LARGE')
  codes.push(...admission)
  if (operation.hasBody) codes.push('UNSUPPORTED_MEDIA_TYPE')
  if (operation.idempotency === 'required') codes.push('IDEMPOTENCY_KEY_REQUIRED')
  if (operation.stores !== undefined) codes.push('DAILY_QUOTA_EXCEEDED')
  // Without a key, with replay protection: for a signature that was used before. A provider's transaction has an id of its own.
  if (operation.http?.method === 'POST' && audiences[operation.audience].caller === 'operator')
    codes.push('IDEMPOTENCY_CONFLICT')
  if (operation.idempotency === 'required') codes.push('IDEMPOTENCY_IN_PROGRESS')
  codes.push('VALIDATION_ERROR', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE')
  return codes
}

/**
 * The codes that refuse a request only after its Idempotency-Key was looked up, so that they are what became of it under
 * that key. Any other refusal says nothing about an earlier request with the key.
 */
export function refusalsAfterKey(operation: Operation): ErrorCode[] {
  const common = commonRejects(operation)
  const last = common.indexOf('IDEMPOTENCY_KEY_REQUIRED')
  if (last < 0) return []
  return [...common.slice(last + 1), ...operation.rejects].filter((code) => !errorCatalogue[code].retryable)
}

/** Whether a service may refuse the operation with this code. Any other code is a bug of the service. */
export function isDeclared(operation: Operation, code: ErrorCode): boolean {
  if (operation.rejects.includes(code)) return true
  // The input is not valid, or the service failed: any operation may meet these.
  if (code === 'VALIDATION_ERROR' || errorCatalogue[code].status >= 500) return true
  // The operation id was used before, with another input.
  if (code === 'IDEMPOTENCY_CONFLICT') return operation.kind === 'command'
  return audiences[operation.audience].anyCall.includes(code)
}
