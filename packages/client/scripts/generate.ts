import { exampleEvent, openApiDocument } from '@backoffice/api-docs'
import {
  apiVersion,
  detailsOf,
  httpOperations,
  type Operation,
  publicErrorCodes,
  publicErrors,
  publicEventKinds,
  refusalsAfterKey,
} from '@backoffice/contracts'

interface Document {
  readonly components: { readonly schemas: Record<string, unknown> }
}

const retryableByCode = publicErrorCodes.map((code) => [code, publicErrors[code].retryable === true])
const finalCodes = new Set(httpOperations.flatMap(refusalsAfterKey))

/** What of the API stands in src/api.ts: its version, which errors are worth another try or final, and an event of each type. */
export function generateValues(): string {
  return `export const apiVersion = '${apiVersion}'

/** Whether the same request, with the same Idempotency-Key, may succeed when it is sent again. */
export const retryableByCode: ReadonlyMap<string, boolean> = new Map(${JSON.stringify(retryableByCode)})

/** What refuses a request only after its Idempotency-Key was looked up. */
export const finalCodes: ReadonlySet<string> = new Set(${JSON.stringify(publicErrorCodes.filter((code) => finalCodes.has(code)))})

/** An event of each type. */
export const exampleEvents = ${JSON.stringify(Object.fromEntries(publicEventKinds.map((kind) => [kind, exampleEvent(kind)])))}

`
}

/** And the types of its schemas, operations and errors. */
export async function generateTypes(): Promise<string> {
  const { default: openapiTS, astToString } = await import('openapi-typescript')
  const document = openApiDocument({ baseUrl: 'https://backoffice.invalid/api/v1' }) as unknown as Document
  // A type of the client's own: an error reply has one shape for all codes in the document, but not in TypeScript.
  document.components.schemas.ErrorDetails = errorDetailsSchema()
  return astToString(await openapiTS(JSON.stringify(document, withoutIds)))
}

/** src/names.ts: a name for each schema of a request or a reply. Errors and events have names of another kind. */
export function generateNames(): string {
  const { components } = openApiDocument({ baseUrl: 'https://backoffice.invalid/api/v1' }) as unknown as Document
  const names = Object.keys(components.schemas).filter((name) => !/Error$|^ErrorCode$|Event$/.test(name))
  const lines = names.map((name) => `export type ${name} = components['schemas']['${name}']\n`)
  return `import type { components } from './api.ts'\n\n${lines.join('')}`
}

/** The `details` that an error may have, by its code: undefined where a code has none. */
function errorDetailsSchema(): object {
  const properties = publicErrorCodes.map((code) => {
    const { schema = { not: {} }, always = false } = detailsOf(code) ?? {}
    return { code, always, schema: { ...schema, description: publicErrors[code].message } }
  })
  return {
    type: 'object',
    properties: Object.fromEntries(properties.map(({ code, schema }) => [code, schema])),
    required: properties.filter(({ always }) => always).map(({ code }) => code),
    additionalProperties: false,
  }
}

/** A schema that stands here in place needs no name. */
const withoutIds = (key: string, value: unknown) => (key === '$id' ? undefined : value)

/** Operations whose method has another name, or takes single values: src/client.ts has them. */
export const writtenByHand: ReadonlySet<string> = new Set([
  'getMe',
  'findPlayers',
  'openGameSession',
  'decideKycInSandbox',
  'decideWithdrawalInSandbox',
])

/** The operations that an operator signs: each has a method. */
export const signedOperations: readonly Operation[] = httpOperations.filter(
  ({ audience }) => audience === 'operator' || audience === 'sandbox',
)

const header = `import { type ApiCall, type JsonOf, mapCall, type RequestOptions, type Routes } from './routes.ts'
import type { operations } from './api.ts'
import type * as named from './names.ts'

/** The fields that have a name. What may be left out may also be undefined. */
type Optional<Fields> = { readonly [Name in keyof Fields as string extends Name ? never : Name]?: Fields[Name] | undefined
}
type QueryOf<Id extends keyof operations> = Optional<NonNullable<operations[Id]['parameters']['query']>>
type BodyOf<Id extends keyof operations> = Optional<JsonOf<NonNullable<operations[Id]['requestBody']>>>
/** A field that is not given is not sent either. */
const given = (fields: object): Record<never, never> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
`

/**
 * src/methods.ts: a method for each operation, which takes the ids of the path, the body and options. What may all be
 * left out stands among the options. A list without pages is its records.
 */
export function generateMethods(): string {
  const methods = signedOperations.filter(({ id }) => !writtenByHand.has(id)).map(methodOf)
  return `${header}
export class Methods {
  protected readonly routes: Routes

  constructor(routes: Routes) {
    this.routes = routes
  }
${methods.join('')}}
`
}

interface ObjectSchema {
  readonly $id?: string
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
}

function methodOf(operation: Operation): string {
  const { id, http, summary, description, idempotency } = operation
  if (http === undefined) throw new Error(`${id} has no route`)
  const ids = [...http.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const body = operation.hasBody ? (operation.body as ObjectSchema) : undefined
  const query = operation.query as ObjectSchema | undefined
  const reply = operation.reply as ObjectSchema
  if ((query?.required ?? []).length > 0) throw new Error(`${id} needs a query, so its method is written by hand`)
  const fields = Object.keys((body ?? query)?.properties ?? {})
  const isOptional = (body?.required ?? []).length === 0
  const typeOf = (schema: ObjectSchema, otherwise: string) =>
    schema.$id === undefined ? otherwise : `named.${schema.$id}`
  const inOptions = isOptional && fields.length > 0
  const more = `${body === undefined ? 'QueryOf' : 'BodyOf'}<'${id}'>`
  const takes = [
    ...ids.map((name) => `${name}: string`),
    ...(body === undefined || isOptional
      ? []
      : [`body: ${typeOf(body, `JsonOf<operations['${id}']['requestBody']>`)}`]),
    inOptions ? `{ ${fields.join(', ')}, ...options }: RequestOptions & ${more} = {}` : 'options?: RequestOptions',
  ]
  const input = [
    ...(ids.length > 0 ? [`path: { ${ids.join(', ')} }`] : []),
    ...(body === undefined && fields.length > 0 ? [`query: { ${fields.join(', ')} }`] : []),
    ...(body !== undefined
      ? [`body${isOptional ? `: ${inOptions ? `given({ ${fields.join(', ')} })` : '{}'}` : ''}`]
      : []),
  ]
  const isList = Object.keys(reply.properties ?? {}).join() === 'data'
  const record = typeOf(reply, `JsonOf<operations['${id}']['responses'][${http.status}]>`)
  const send = http.method === 'GET' ? 'get' : idempotency === 'required' ? 'command' : 'post'
  const call = `this.routes.${send}${isList ? `<${record}>` : ''}('${http.path}', {${input.map((field) => ` ${field}`).join()} }, options)`
  return `
  /** ${[summary, description]
    .filter((text) => text !== undefined)
    .join('. ')
    .replaceAll('*/', '* /')} */
  ${id}(${takes.join(', ')}): ApiCall<${isList ? `${record}['data']` : record}> {
    return ${isList ? `mapCall(${call}, ({ data }) => data)` : call}
  }
`
}
