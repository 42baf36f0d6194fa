import { type Static, Type } from '@sinclair/typebox'
import { operation } from '../operation.ts'
import { apiVersion, EnvironmentName, Id, Me, Nullable, Timestamp } from '../resources.ts'

const document = { service: 'gateway', audience: 'public', kind: 'query', tag: 'Documents' } as const
const JsonDocument = Type.Object({}, { additionalProperties: true })

export const getOpenApi = operation({
  ...document,
  id: 'getOpenApi',
  summary: 'OpenAPI document',
  description: 'The OpenAPI 3.1 document of this version.',
  http: { method: 'GET', path: '/openapi.json', status: 200 },
  reply: JsonDocument,
})

export const getChangelog = operation({
  ...document,
  id: 'getChangelog',
  summary: 'Change history',
  description: 'The history of the API, as Markdown (`text/markdown`).',
  http: { method: 'GET', path: '/changelog', status: 200 },
  reply: Type.String(),
})

export const getPostmanCollection = operation({
  ...document,
  id: 'getPostmanCollection',
  summary: 'Postman collection',
  description: 'A Postman v2.1 collection with all operations and a pre-request signing script.',
  http: { method: 'GET', path: '/postman.json', status: 200 },
  reply: JsonDocument,
})

export const getSigningSnippets = operation({
  ...document,
  id: 'getSigningSnippets',
  summary: 'Signing snippets',
  description: 'Code to sign requests and to verify webhooks in several languages.',
  http: { method: 'GET', path: '/signing-snippets.json', status: 200 },
  reply: JsonDocument,
})

export const getTestVectors = operation({
  ...document,
  id: 'getTestVectors',
  summary: 'Signature test vectors',
  description: 'Inputs and expected signatures, for requests and for webhooks.',
  http: { method: 'GET', path: '/test-vectors.json', status: 200 },
  reply: JsonDocument,
})

export const getDocs = operation({
  ...document,
  id: 'getDocs',
  summary: 'Documentation page',
  description: 'The documentation as an HTML page (`text/html`).',
  http: { method: 'GET', path: '/docs', status: 200 },
  reply: Type.String(),
})

export const getMe = operation({
  id: 'getMe',
  service: 'gateway',
  audience: 'operator',
  kind: 'query',
  tag: 'Account',
  summary: 'Who am I',
  description: 'The operator, brand and environment of the credential. The quickest check of a signature.',
  http: { method: 'GET', path: '/me', status: 200 },
  reply: Me,
  example: {
    reply: {
      operator: { id: 'op_01kaj6a0qkf3d8ry3j8z6c9m1e', name: 'demo', environment: 'sandbox' },
      brand: { id: 'brd_01kaj6a0qmf8ctbdfmbh5yt2r7', name: 'demo sandbox', currency: 'BRL', isSandbox: true },
      apiVersion,
    },
  },
})

const team = { service: 'gateway', audience: 'team' } as const
const closed = { additionalProperties: false } as const
const OperatorName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$',
  description: 'Unique among operators.',
})
const Reason = Type.Optional(
  Type.String({ minLength: 1, maxLength: 500, description: 'Why; kept in the audit trail.' }),
)
const RateLimit = Type.Integer({ minimum: 1, maximum: 10_000_000, description: 'Requests per minute and environment.' })
/** IPv4 or IPv6, with or without a prefix length. */
const AllowedAddresses = Type.Array(Type.String({ pattern: '^[0-9A-Fa-f:.]+(/\\d{1,3})?$' }), { maxItems: 200 })

/** A pair as it is shown once, at issue; a replay of the same operation id shows nulls. */
const ShownOnce = Type.Object(
  {
    key: Type.String(),
    secret: Nullable(Type.String()),
    webhookSecret: Nullable(Type.String()),
  },
  closed,
)

/** An operator as the team sees it: never a secret. */
export const OperatorRecord = Type.Object(
  {
    id: Id,
    name: Type.String(),
    status: Type.Union([Type.Literal('active'), Type.Literal('suspended')]),
    rateLimitPerMinute: Type.Integer(),
    /** Empty: any address. */
    allowedAddresses: Type.Array(Type.String()),
    createdAt: Timestamp,
    brands: Type.Array(
      Type.Object(
        {
          id: Id,
          environment: EnvironmentName,
          name: Type.String(),
          currency: Type.String(),
          timeZone: Type.String(),
        },
        closed,
      ),
    ),
    credentials: Type.Array(
      Type.Object(
        { key: Type.String(), environment: EnvironmentName, createdAt: Timestamp, revokedAt: Nullable(Timestamp) },
        closed,
      ),
    ),
  },
  closed,
)
export type OperatorRecord = Static<typeof OperatorRecord>

export const createOperator = operation({
  ...team,
  id: 'createOperator',
  kind: 'command',
  summary: 'Create an operator with its sandbox and production brands and credentials',
  body: Type.Object(
    {
      name: OperatorName,
      rateLimitPerMinute: Type.Optional(RateLimit),
      allowedAddresses: Type.Optional(AllowedAddresses),
      reason: Reason,
    },
    closed,
  ),
  reply: Type.Object({ operatorId: Id, name: Type.String(), sandbox: ShownOnce, production: ShownOnce }, closed),
  rejects: ['VALIDATION_ERROR', 'OPERATOR_ALREADY_EXISTS'],
})

export const listOperators = operation({
  ...team,
  id: 'listOperators',
  kind: 'query',
  summary: 'List the operators',
  reply: Type.Object({ data: Type.Array(OperatorRecord) }, closed),
})

export const getOperator = operation({
  ...team,
  id: 'getOperator',
  kind: 'query',
  summary: 'Read an operator by name or id',
  body: Type.Object({ name: Type.String({ minLength: 1, maxLength: 64 }) }, closed),
  reply: OperatorRecord,
  rejects: ['OPERATOR_NOT_FOUND'],
})

export const suspendOperator = operation({
  ...team,
  id: 'suspendOperator',
  kind: 'command',
  summary: 'Suspend an operator: its requests answer OPERATOR_SUSPENDED within a second',
  body: Type.Object({ operatorId: Id, reason: Reason }, closed),
  reply: OperatorRecord,
  rejects: ['OPERATOR_NOT_FOUND'],
})

export const activateOperator = operation({
  ...team,
  id: 'activateOperator',
  kind: 'command',
  summary: 'Activate a suspended operator',
  body: Type.Object({ operatorId: Id, reason: Reason }, closed),
  reply: OperatorRecord,
  rejects: ['OPERATOR_NOT_FOUND'],
})

export const setOperatorLimits = operation({
  ...team,
  id: 'setOperatorLimits',
  kind: 'command',
  summary: "Change an operator's rate limit or permitted addresses",
  body: Type.Object(
    {
      operatorId: Id,
      rateLimitPerMinute: Type.Optional(RateLimit),
      allowedAddresses: Type.Optional(AllowedAddresses),
      reason: Reason,
    },
    closed,
  ),
  reply: OperatorRecord,
  rejects: ['VALIDATION_ERROR', 'OPERATOR_NOT_FOUND'],
})

export const issueCredential = operation({
  ...team,
  id: 'issueCredential',
  kind: 'command',
  summary: 'Issue one more key and secret; the secret is shown once',
  body: Type.Object({ operatorId: Id, environment: EnvironmentName, reason: Reason }, closed),
  reply: Type.Object({ key: Type.String(), secret: Nullable(Type.String()), environment: EnvironmentName }, closed),
  rejects: ['OPERATOR_NOT_FOUND'],
})

export const revokeCredential = operation({
  ...team,
  id: 'revokeCredential',
  kind: 'command',
  summary: 'Revoke a key; it answers INVALID_CREDENTIALS within a second',
  body: Type.Object({ key: Type.String({ minLength: 1, maxLength: 128 }), reason: Reason }, closed),
  reply: Type.Object({ key: Type.String(), revokedAt: Timestamp }, closed),
  rejects: ['CREDENTIAL_NOT_FOUND', 'CREDENTIAL_LAST_ACTIVE'],
})

export const rewrapSecrets = operation({
  ...team,
  id: 'rewrapSecrets',
  kind: 'command',
  summary: 'Encrypt every operator secret with the newest master key',
  body: Type.Object({ reason: Reason }, closed),
  reply: Type.Object({ rewrapped: Type.Integer(), keyId: Type.String() }, closed),
})
