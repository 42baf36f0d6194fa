import { httpOperations, type Operation } from '@backoffice/contracts'

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

const header = `import { type ApiCall, mapCall } from './call.ts'
import type { InputOf, ReplyOf, RequestOptions, Routes } from './routes.ts'
import type { operations } from './api.ts'
import type * as named from './names.ts'

/** The fields that have a name. What may be left out may also be undefined. */
type Optional<Fields> = { readonly [Name in keyof Fields as string extends Name ? never : Name]?: Fields[Name] | undefined
}
type QueryOf<Operation> = Optional<InputOf<Operation> extends { readonly query?: infer Query } ? NonNullable<Query> : never>
type BodyOf<Operation> = Optional<InputOf<Operation> extends { readonly body?: infer Body } ? NonNullable<Body> : never>
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
  const more = `${body === undefined ? 'QueryOf' : 'BodyOf'}<operations['${id}']>`
  const takes = [
    ...ids.map((name) => `${name}: string`),
    ...(body === undefined || isOptional ? [] : [`body: ${typeOf(body, `InputOf<operations['${id}']>['body']`)}`]),
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
  const record = typeOf(reply, `ReplyOf<operations['${id}']>`)
  const send = http.method === 'GET' ? 'get' : idempotency === 'required' ? 'command' : 'post'
  const call = `this.routes.${send}('${http.path}', {${input.map((field) => ` ${field}`).join()} }, options)`
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
