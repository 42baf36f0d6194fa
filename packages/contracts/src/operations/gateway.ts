import { type Static, Type } from '@sinclair/typebox'
import { sample } from '../examples.ts'
import { brandDefaults, storedMebibytesMax, storedRowsMax } from '../limits.ts'
import { document, get, internal, operator, team } from '../operation.ts'
import { personal } from '../personal.ts'
import { apiVersion, EnvironmentName, Id, Me, Reason, reasonLength, Timestamp } from '../resources.ts'
import { arrayOf, Line, Nullable, object, optional, pageOf, text } from '../schema.ts'
import { everyRole } from '../team.ts'
import {
  ActiveOrSuspended,
  AddressRange,
  AllowedAddresses,
  Homologation,
  IssuedKey,
  RevokedKey,
  seenField,
} from './fields.ts'
import { gatewayFigures } from './figures.ts'
import { providers } from './providers.ts'
import { refusedRequestEntries } from './refused-requests.ts'
import { service } from './runtime.ts'
import { teamSessionEntries } from './team-sessions.ts'

const JsonDocument = Type.Object({}, { additionalProperties: true })

const OperatorName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$',
  description: 'Unique among operators.',
})

/** The credentials of an operator that are shown: those in use, and the latest of the others. */
export const credentialsShownMax = 50
/** An operator is larger than other records: it lists its permitted addresses and its credentials. */
const operatorBytesMax = 26 * 1024

const RateLimit = Type.Integer({ minimum: 1, maximum: 10_000_000, description: 'Requests per minute and environment.' })

const StoredMebibytes = Type.Integer({
  minimum: 1,
  maximum: storedMebibytesMax,
  description:
    'MiB that the calls of a day (UTC) may store, for each environment; in the sandbox no more than the settings say.',
})
const StoredRows = Type.Integer({ minimum: 1, maximum: storedRowsMax, description: 'The same in rows.' })

const OnOrOff = Type.Union([Type.Literal('on'), Type.Literal('off')], {
  description: 'On: a signature is accepted for one request only.',
})

/** A key with its secrets, which are shown once. A replay of the same operation id shows nulls instead. */
const ShownOnce = object({ key: text(64), secret: Nullable(text(128)), webhookSecret: Nullable(text(128)) })

/** An operator as the team sees it: never a secret. */
export const OperatorRecord = object({
  id: Id,
  name: text(64),
  status: ActiveOrSuspended,
  rateLimitPerMinute: Type.Integer(),
  /** Null: what the rate limit lets it store, and in the sandbox what the settings say. */
  storedMebibytesPerDay: Nullable(StoredMebibytes),
  storedRowsPerDay: Nullable(StoredRows),
  /** Only where an operator is read; of environments in which anything was stored. */
  storedToday: Type.Optional(
    arrayOf(2, {
      environment: EnvironmentName,
      bytes: Type.Integer(),
      bytesMax: Type.Integer(),
      rows: Type.Integer(),
      rowsMax: Type.Integer(),
    }),
  ),
  /** Empty: any address. */
  allowedAddresses: Type.Array(AddressRange, { maxItems: 200 }),
  replayProtection: OnOrOff,
  createdAt: Timestamp,
  brands: arrayOf(2, { id: Id, environment: EnvironmentName, name: text(100), currency: text(3), timeZone: text(64) }),
  credentials: arrayOf(credentialsShownMax, {
    key: text(64),
    environment: EnvironmentName,
    createdAt: Timestamp,
    revokedAt: Nullable(Timestamp),
    /** Exact to five minutes; null: never. Only where an operator is read. */
    lastUsedAt: Type.Optional(Nullable(Timestamp)),
  }),
})
export type OperatorRecord = Static<typeof OperatorRecord>

// People know an operator by its name, and calls name its id.
const name = OperatorName
const stateShown = { name, status: OperatorRecord.properties.status }

/** The public documents, the caller's own identity, and the team's work on operators and credentials. */
export const gateway = service('gateway', {
  getOpenApi: document({
    http: get('/openapi.json'),
    summary: 'OpenAPI document',
    description:
      'The OpenAPI 3.1 document of this version. With `?samples=false` it has no code samples, which are half of it and which generators do not read.',
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

  /** For lists of the team's. The other services know operators by their ids alone. */
  readOperatorNames: internal.query({
    callers: ['players', 'payments'],
    summary: 'Read the names of operators',
    body: object({ operatorIds: Type.Array(Id, { maxItems: 1_000 }) }),
    reply: object({ operators: arrayOf(1_000, { id: Id, name: text(64) }) }),
    // A list without names is better than none.
    timeoutMs: 2_000,
  }),

  createOperator: team.command({
    roles: ['integration'],
    freshLogin: 'always',
    summary: 'Create an operator with its two brands and a sandbox pair; the secrets are shown once',
    body: object({
      name: OperatorName,
      rateLimitPerMinute: Type.Optional(RateLimit),
      allowedAddresses: Type.Optional(AllowedAddresses),
      currency: optional(
        Type.String({ format: 'currency', maxLength: 3 }),
        `ISO 4217, with 2 decimals; never changed later; ${brandDefaults.currency} when absent.`,
      ),
      timeZone: optional(
        Type.String({ format: 'time-zone', maxLength: 64 }),
        `IANA name; where days begin; never changed later; ${brandDefaults.timeZone} when absent.`,
      ),
      reason: Type.Optional(Reason),
    }),
    storedBytesMax: operatorBytesMax,
    reply: object({
      operatorId: Id,
      name: text(64),
      /** As they were understood. */
      allowedAddresses: Type.Array(AddressRange, { maxItems: 200 }),
      sandbox: ShownOnce,
      /** Null but in development: production's pair is issued after homologation, by two people. */
      production: Type.Union([ShownOnce, Type.Null()]),
    }),
    rejects: ['VALIDATION_ERROR', 'OPERATOR_ALREADY_EXISTS'],
  }),

  listOperators: team.query({
    roles: everyRole,
    summary: 'List the operators, by name',
    body: object({
      after: optional(Type.String({ minLength: 1, maxLength: 256 }), 'Go on after this name.'),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    }),
    reply: pageOf(OperatorRecord),
  }),

  getOperator: team.query({
    roles: everyRole,
    summary: 'Show an operator with its brands and keys',
    body: object({ name: Type.String({ minLength: 1, maxLength: 64, description: 'Name, id or key.' }) }),
    reply: OperatorRecord,
    rejects: ['OPERATOR_NOT_FOUND'],
  }),

  showHomologation: team.query({
    roles: everyRole,
    summary: "Show what an operator's sandbox traffic has proved, check by check",
    body: object({ operatorId: Id }),
    reply: Homologation,
    rejects: ['OPERATOR_NOT_FOUND'],
  }),

  suspendOperator: team.command({
    roles: ['integration'],
    freshLogin: 'always',
    summary: 'Suspend an operator: its requests answer OPERATOR_SUSPENDED within a second',
    body: object({ operatorId: Id, ...seenField(stateShown), reason: Type.Optional(Reason) }),
    storedBytesMax: operatorBytesMax,
    reply: OperatorRecord,
    rejects: ['OPERATOR_NOT_FOUND', 'NOT_AS_SEEN'],
  }),

  activateOperator: team.command({
    roles: ['integration'],
    summary: 'Activate a suspended operator',
    body: object({ operatorId: Id, ...seenField(stateShown), reason: Type.Optional(Reason) }),
    storedBytesMax: operatorBytesMax,
    reply: OperatorRecord,
    rejects: ['OPERATOR_NOT_FOUND', 'NOT_AS_SEEN'],
  }),

  setOperatorLimits: team.command({
    roles: ['integration'],
    freshLogin: 'always',
    twoPeople: 'in production',
    summary: "Change an operator's limits or permitted addresses",
    description: 'To permit addresses that were not permitted before takes two people.',
    body: object({
      operatorId: Id,
      rateLimitPerMinute: Type.Optional(RateLimit),
      storedMebibytesPerDay: Type.Optional(StoredMebibytes),
      storedRowsPerDay: Type.Optional(StoredRows),
      allowedAddresses: Type.Optional(AllowedAddresses),
      ...seenField({
        name,
        rateLimitPerMinute: OperatorRecord.properties.rateLimitPerMinute,
        storedMebibytesPerDay: OperatorRecord.properties.storedMebibytesPerDay,
        storedRowsPerDay: OperatorRecord.properties.storedRowsPerDay,
        allowedAddresses: AllowedAddresses,
      }),
      reason: Type.Optional(Reason),
    }),
    storedBytesMax: operatorBytesMax,
    reply: OperatorRecord,
    rejects: ['VALIDATION_ERROR', 'OPERATOR_NOT_FOUND', 'NOT_AS_SEEN'],
  }),

  setReplayProtection: team.command({
    roles: ['integration'],
    freshLogin: { when: { replayProtection: 'off' } },
    twoPeople: { when: { replayProtection: 'off' } },
    summary: 'Accept a signature for one request only, or, as the specification allows, for several',
    body: object({
      operatorId: Id,
      replayProtection: OnOrOff,
      ...seenField({ name, replayProtection: OnOrOff }),
      reason: Type.Optional(Reason),
    }),
    storedBytesMax: operatorBytesMax,
    reply: OperatorRecord,
    rejects: ['OPERATOR_NOT_FOUND', 'NOT_AS_SEEN'],
  }),

  issueCredential: team.command({
    roles: ['integration'],
    freshLogin: { when: { environment: 'production' } },
    twoPeople: { when: { environment: 'production' } },
    summary: 'Issue one more key and secret, shown once; the old pair goes on working',
    description: 'The first pair of production takes homologation, or a reason to do without.',
    body: object({
      operatorId: Id,
      environment: EnvironmentName,
      withoutHomologation: Type.Optional(
        personal(
          'note',
          Line({
            ...reasonLength,
            description: 'Why the first pair of production is issued although checks are not proved.',
          }),
        ),
      ),
      ...seenField({ name }),
      reason: Type.Optional(Reason),
    }),
    reply: IssuedKey,
    rejects: ['VALIDATION_ERROR', 'OPERATOR_NOT_FOUND', 'NOT_AS_SEEN', 'HOMOLOGATION_INCOMPLETE'],
  }),

  revokeCredential: team.command({
    roles: ['integration'],
    freshLogin: 'always',
    summary: 'Revoke a key; it answers INVALID_CREDENTIALS within a second',
    body: object({
      key: Type.String({ minLength: 1, maxLength: 128 }),
      ...seenField({ name, environment: EnvironmentName }),
      reason: Type.Optional(Reason),
    }),
    reply: RevokedKey,
    rejects: ['CREDENTIAL_NOT_FOUND', 'NOT_AS_SEEN', 'CREDENTIAL_LAST_ACTIVE'],
  }),

  rewrapSecrets: team.command({
    roles: ['integration'],
    summary: 'Encrypt every operator secret with the newest master key',
    body: object({ reason: Type.Optional(Reason) }),
    reply: object({ rewrapped: Type.Integer(), keyId: text(64) }),
  }),

  ...refusedRequestEntries,
  ...gatewayFigures,
  ...providers,
  ...teamSessionEntries,
})
