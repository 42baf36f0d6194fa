import {
  type EventKind,
  eventEnvelope,
  events,
  idempotencyKeyPattern,
  type Operation,
  tags,
} from '@backoffice/contracts'
import type { TObject, TSchema } from '@sinclair/typebox'
import { type JsonSchema, SchemaComponents } from './field-tables.ts'
import { addErrorSchemas, errorResponses, helpLink, replayedHeader, requestIdHeader } from './openapi-errors.ts'
import { codeSamplesOf } from './samples.ts'
import { operators, type Surface } from './surface.ts'
import { exampleEvent } from './test-vectors.ts'

interface OpenApiOptions {
  readonly baseUrl: string
  readonly samples?: boolean
  readonly surface?: Surface
}

/**
 * The OpenAPI 3.1 document of a surface in this version, derived from the operation, event and error tables.
 * @param baseUrl the address that clients call, with the prefix of the surface
 * @param samples whether operations show how operators call them; half of the bytes, which no generator reads
 */
export function openApiDocument({ baseUrl, samples = true, surface = operators }: OpenApiOptions): JsonSchema {
  const components = new SchemaComponents()
  addErrorSchemas(components, surface)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of surface.operations) {
    if (operation.http === undefined) continue
    const { path, method } = operation.http
    paths[path] ??= {}
    paths[path][method.toLowerCase()] = {
      ...operationObject(operation, components, surface),
      ...(samples && surface === operators ? { 'x-codeSamples': codeSamplesOf(operation.id, { baseUrl }) } : {}),
    }
  }
  const webhooks = Object.fromEntries(surface.events.map((kind) => [kind, { post: webhookObject(kind, components) }]))
  const { path: serverPath, ...server } = surface.server
  const isOfOperators = surface === operators
  return {
    openapi: '3.1.0',
    info: {
      title: surface.title,
      version: surface.version,
      summary: surface.summary,
      description: surface.introduction,
      contact: { name: 'Integration support', url: `${baseUrl}/docs` },
      license: { name: 'Proprietary', url: `${baseUrl}/docs` },
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: baseUrl + serverPath, ...server }],
    tags: surface.tags.map((name) => ({ name, description: tags[name] })),
    security: [Object.fromEntries(surface.signatureHeaders.map(([scheme]) => [scheme, []]))],
    paths,
    ...(isOfOperators ? { webhooks } : {}),
    components: {
      schemas: components.schemas,
      headers: sharedHeaders(surface),
      examples: components.examples,
      responses: components.responses,
      ...(isOfOperators ? { parameters: { IdempotencyKey: idempotencyKeyParameter } } : {}),
      securitySchemes: Object.fromEntries(
        surface.signatureHeaders.map(([scheme, name, description]) => [
          scheme,
          { type: 'apiKey', in: 'header', name, description },
        ]),
      ),
    },
  }
}

const idempotencyKeyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: true,
  description:
    'Names this effect for 24 hours. The same key and request answer the stored response with `Idempotent-Replayed: true`; after a 5xx or a time-out retry with the SAME key.',
  schema: { type: 'string', pattern: idempotencyKeyPattern, minLength: 8, maxLength: 128 },
  example: 'order-7f3a-attempt-1',
}

const integerHeader = (description: string) => ({
  description,
  schema: { type: 'integer', format: 'int32', minimum: 0, maximum: 86400 },
})

const sharedHeaders = (surface: Surface): JsonSchema => ({
  'X-Request-Id': {
    description: 'Names this request in our logs; quote it when you ask for help.',
    schema: { type: 'string', maxLength: 64 },
  },
  'Retry-After': integerHeader('Seconds to wait before the next try.'),
  Link: helpLink(surface),
  ...(surface === operators ? idempotentReplayed : {}),
})

const idempotentReplayed = {
  'Idempotent-Replayed': {
    description: '`true` when this is the stored response of an earlier request with the same key.',
    schema: { type: 'string', enum: ['true'] },
  },
}

function operationObject(operation: Operation, components: SchemaComponents, surface: Surface): JsonSchema {
  const parameters = [
    ...parametersOf(operation.params, 'path', operation.example?.params, components),
    ...parametersOf(operation.query, 'query', operation.example?.query, components),
  ]
  if (operation.idempotency === 'required') parameters.push({ $ref: '#/components/parameters/IdempotencyKey' })
  return {
    operationId: operation.id,
    summary: operation.summary,
    description: `${operation.description ?? `${operation.summary}.`}${operation.deprecated ? ` It ends on ${operation.deprecated.sunset}.` : ''}`,
    ...(operation.deprecated && { deprecated: true }),
    tags: [operation.tag],
    ...(operation.audience === 'public' ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(operation.hasBody ? { requestBody: requestBody(operation, components) } : {}),
    responses: {
      [String(operation.http?.status)]: success(operation, components),
      ...errorResponses(operation, components, surface),
    },
  }
}

function parametersOf(
  schema: TObject,
  location: 'path' | 'query',
  examples: Readonly<Record<string, string>> | undefined,
  components: SchemaComponents,
): JsonSchema[] {
  return Object.entries(schema.properties).map(([name, property]) => {
    const { description, ...published } = components.publish(property as TSchema)
    const example = examples?.[name]
    return {
      name,
      in: location,
      required: schema.required?.includes(name) ?? false,
      description: description ?? name,
      schema: published,
      ...(example === undefined ? {} : { example: published.type === 'integer' ? Number(example) : example }),
    }
  })
}

function requestBody(operation: Operation, components: SchemaComponents): JsonSchema {
  return {
    required: (operation.body.required?.length ?? 0) > 0,
    content: {
      'application/json': { schema: components.publish(operation.body), ...exampleOf(operation.example?.body) },
    },
  }
}

function exampleOf(example: unknown): JsonSchema {
  return example === undefined ? {} : { example }
}

/** The media type of each reply that is not JSON. */
const textReplies: Readonly<Record<string, string>> = { getChangelog: 'text/markdown', getDocs: 'text/html' }

/** The document says that they have these fields and no others. */
const closedReplies: ReadonlySet<string> = new Set(['getMe'])

function success(operation: Operation, components: SchemaComponents): JsonSchema {
  const mediaType = textReplies[operation.id] ?? 'application/json'
  const extent = closedReplies.has(operation.id) ? 'closed' : 'open'
  return {
    description: operation.http?.status === 201 ? 'Created.' : 'Success.',
    headers: { ...requestIdHeader, ...(operation.idempotency === 'required' ? replayedHeader : {}) },
    content: {
      [mediaType]: { schema: components.publish(operation.reply, extent), ...exampleOf(operation.example?.reply) },
    },
  }
}

const webhookHeaders = [
  [
    'X-Webhook-Id',
    { maxLength: 64 },
    'Id of the event: equal to `id` in the body. Only the body is signed, so drop duplicates by the `id` in the verified body.',
  ],
  ['X-Webhook-Timestamp', { pattern: '^\\d{10}$' }, 'Epoch seconds of this attempt, part of what is signed.'],
  [
    'X-Webhook-Signature',
    { pattern: '^[0-9a-f]{64}$' },
    'Lowercase hex HMAC-SHA256 with the webhook secret over timestamp, a dot, and the raw body.',
  ],
  [
    'X-Webhook-Signatures',
    { pattern: '^t=\\d{10}(,v1=[0-9a-f]{64})+$' },
    'The same signature made with every valid secret, newest first.',
  ],
] as const

/** What an operator's server receives for one kind of event. */
function webhookObject(kind: EventKind, components: SchemaComponents): JsonSchema {
  const event = events[kind]
  return {
    operationId: `webhook_${kind.replaceAll('.', '_')}`,
    summary: event.summary,
    description: event.description,
    tags: ['Webhooks'],
    security: [],
    parameters: webhookHeaders.map(([name, schema, description]) => ({
      ...{ name, in: 'header', required: true, description },
      schema: { type: 'string', ...schema },
    })),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: components.publish({ ...eventEnvelope(kind), $id: eventSchemaName(kind) }, 'open'),
          example: exampleEvent(kind),
        },
      },
    },
    responses: {
      '2XX': { description: 'Acknowledged.' },
      default: { description: 'Anything else is retried with exponential backoff, up to 8 attempts.' },
    },
  }
}

/** deposit.confirmed → DepositConfirmedEvent */
function eventSchemaName(kind: EventKind): string {
  const words = kind.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return `${words.join('')}Event`
}
