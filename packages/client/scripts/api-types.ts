import {
  apiVersion,
  detailsOf,
  httpOperations,
  publicErrorCodes,
  publicErrors,
  refusalsAfterKey,
} from '@backoffice/contracts'
import { openApiDocument } from '@backoffice/documents'

interface Document {
  readonly components: { readonly schemas: Record<string, unknown> }
}

const retryableByCode = publicErrorCodes.map((code) => [code, publicErrors[code].retryable === true])
const finalCodes = new Set(httpOperations.flatMap(refusalsAfterKey))

/** What of the API stands in src/api.ts: its version, and which errors are worth another try or final. */
export function generateValues(): string {
  return `export const apiVersion = '${apiVersion}'

/** Whether the same request, with the same Idempotency-Key, may succeed when it is sent again. */
export const retryableByCode: ReadonlyMap<string, boolean> = new Map(${JSON.stringify(retryableByCode)})

/** What refuses a request only after its Idempotency-Key was looked up. */
export const finalCodes: ReadonlySet<string> = new Set(${JSON.stringify(publicErrorCodes.filter((code) => finalCodes.has(code)))})

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
