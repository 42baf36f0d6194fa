import { type Static, Type } from '@sinclair/typebox'
import { sample } from '../examples.ts'
import { document, get, operator, team } from '../operation.ts'
import { apiVersion, EnvironmentName, Id, Me, Reason, Timestamp } from '../resources.ts'
import { closed, Nullable, pageOf } from '../schema.ts'
import { service } from '../service.ts'

const JsonDocument = Type.Object({}, { additionalProperties: true })

const OperatorName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$',
  description: 'Unique among operators.',
})

const RateLimit = Type.Integer({ minimum: 1, maximum: 10_000_000, description: 'Requests per minute and environment.' })

const AllowedAddresses = Type.Array(Type.String({ pattern: '^[0-9A-Fa-f:.]+(/\\d{1,3})?$' }), {
  maxItems: 200,
  description: 'IPv4 or IPv6, with or without a prefix length.',
})

const OnOrOff = Type.Union([Type.Literal('on'), Type.Literal('off')], {
  description: 'On: a signature is accepted for one request only.',
})

/** A key with its secrets, which are shown once. A replay of the same operation id shows nulls instead. */
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
    /** Absent in what 1.1.0 stored or replies. */
    replayProtection: Type.Optional(OnOrOff),
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

/** The public documents, the caller's own identity, and the team's work on operators and credentials. */
export const gateway = service('gateway', {
  getOpenApi: document({
    http: get('/openapi.json'),
    summary: 'OpenAPI document',
    description: 'The OpenAPI 3.1 document of this version.',
    reply: JsonDocument,
  }),

  getChangelog: document({
    http: get('/changelog'),
    summary: 'Change history',
    description: 'The history of the API, as Markdown (`text/markdown`).',
    reply: Type.String(),
  }),

  getPostmanCollection: document({
    http: get('/postman.json'),
    summary: 'Postman collection',
    description: 'A Postman v2.1 collection with all operations and a pre-request signing script.',
    reply: JsonDocument,
  }),

  getSigningSnippets: document({
    http: get('/signing-snippets.json'),
    summary: 'Signing snippets',
    description: 'Code to sign requests and to verify webhooks in several languages.',
    reply: JsonDocument,
  }),

  getTestVectors: document({
    http: get('/test-vectors.json'),
    summary: 'Signature test vectors',
    description: 'Inputs and expected signatures, for requests and for webhooks.',
    reply: JsonDocument,
  }),

  getDocs: document({
    http: get('/docs'),
    summary: 'Documentation page',
    description: 'The documentation as an HTML page (`text/html`).',
    reply: Type.String(),
  }),

  getMe: operator.query({
    http: get('/me'),
    tag: 'Account',
    summary: 'Who am I',
    description: 'The operator, brand and environment of the credential. The quickest check of a signature.',
    reply: Me,
    example: {
      reply: {
        operator: { id: sample.operatorId, name: 'demo', environment: 'sandbox' },
        brand: { id: sample.brandId, name: 'demo sandbox', currency: 'BRL', isSandbox: true },
        apiVersion,
      },
    },
  }),

  createOperator: team.command({
    summary: 'Create an operator with a sandbox and a production pair; the secrets are shown once',
    body: Type.Object(
      {
        name: OperatorName,
        rateLimitPerMinute: Type.Optional(RateLimit),
        allowedAddresses: Type.Optional(AllowedAddresses),
        reason: Type.Optional(Reason),
      },
      closed,
    ),
    reply: Type.Object(
      {
        operatorId: Id,
        name: Type.String(),
        /** As they were understood. Absent in what 1.1.0 stored. */
        allowedAddresses: Type.Optional(Type.Array(Type.String())),
        sandbox: ShownOnce,
        production: ShownOnce,
      },
      closed,
    ),
    rejects: ['VALIDATION_ERROR', 'OPERATOR_ALREADY_EXISTS'],
  }),

  listOperators: team.query({
    summary: 'List the operators, by name',
    body: Type.Object(
      {
        after: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'Go on after this name.' })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      },
      closed,
    ),
    reply: pageOf(OperatorRecord),
  }),

  getOperator: team.query({
    summary: 'Show an operator with its brands and keys',
    body: Type.Object({ name: Type.String({ minLength: 1, maxLength: 64, description: 'Name or id.' }) }, closed),
    reply: OperatorRecord,
    rejects: ['OPERATOR_NOT_FOUND'],
  }),

  suspendOperator: team.command({
    summary: 'Suspend an operator: its requests answer OPERATOR_SUSPENDED within a second',
    body: Type.Object({ operatorId: Id, reason: Type.Optional(Reason) }, closed),
    reply: OperatorRecord,
    rejects: ['OPERATOR_NOT_FOUND'],
  }),

  activateOperator: team.command({
    summary: 'Activate a suspended operator',
    body: Type.Object({ operatorId: Id, reason: Type.Optional(Reason) }, closed),
    reply: OperatorRecord,
    rejects: ['OPERATOR_NOT_FOUND'],
  }),

  setOperatorLimits: team.command({
    summary: "Change an operator's rate limit or permitted addresses",
    body: Type.Object(
      {
        operatorId: Id,
        rateLimitPerMinute: Type.Optional(RateLimit),
        allowedAddresses: Type.Optional(AllowedAddresses),
        reason: Type.Optional(Reason),
      },
      closed,
    ),
    reply: OperatorRecord,
    rejects: ['VALIDATION_ERROR', 'OPERATOR_NOT_FOUND'],
  }),

  setReplayProtection: team.command({
    summary: 'Accept a signature for one request only, or, as the specification allows, for several',
    body: Type.Object({ operatorId: Id, replayProtection: OnOrOff, reason: Type.Optional(Reason) }, closed),
    reply: OperatorRecord,
    rejects: ['OPERATOR_NOT_FOUND'],
  }),

  issueCredential: team.command({
    summary: 'Issue one more key and secret, shown once; the old pair goes on working',
    body: Type.Object({ operatorId: Id, environment: EnvironmentName, reason: Type.Optional(Reason) }, closed),
    reply: Type.Object({ key: Type.String(), secret: Nullable(Type.String()), environment: EnvironmentName }, closed),
    rejects: ['OPERATOR_NOT_FOUND'],
  }),

  revokeCredential: team.command({
    summary: 'Revoke a key; it answers INVALID_CREDENTIALS within a second',
    body: Type.Object({ key: Type.String({ minLength: 1, maxLength: 128 }), reason: Type.Optional(Reason) }, closed),
    reply: Type.Object({ key: Type.String(), revokedAt: Timestamp }, closed),
    rejects: ['CREDENTIAL_NOT_FOUND', 'CREDENTIAL_LAST_ACTIVE'],
  }),

  rewrapSecrets: team.command({
    summary: 'Encrypt every operator secret with the newest master key',
    body: Type.Object({ reason: Type.Optional(Reason) }, closed),
    reply: Type.Object({ rewrapped: Type.Integer(), keyId: Type.String() }, closed),
  }),
})
