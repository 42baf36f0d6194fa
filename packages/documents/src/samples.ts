import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { apiVersion, httpOperations, type Operation } from '@backoffice/contracts'
import { clientCall, type SampleBody, type SampleLanguage, sampleLanguages, takesBody } from './sample-languages.ts'

/**
 * Each stands in a sample once, and is used unless the environment has OPERATOR_KEY and OPERATOR_SECRET. In ASCII: a key
 * that nobody has filled in is then refused by the API, and not by a runtime that cannot send the header.
 */
export const samplePlaceholders = { key: 'bk_test_...', secret: 'sk_...' } as const

interface SampleOptions {
  /** The address that clients call, with the /api/v1 prefix. */
  readonly baseUrl: string
}

/**
 * A whole program that sends one operation with the example of the table, signed where that is needed, and prints the
 * reply. Its key and secret are `samplePlaceholders`, unless the environment has OPERATOR_KEY and OPERATOR_SECRET; its
 * ids are those of the example. Whoever runs it again, because no reply came, sets IDEMPOTENCY_KEY to the key of the
 * first run.
 */
export function sampleOf(languageId: string, operationId: string, { baseUrl }: SampleOptions): string {
  const language = sampleLanguages.find(({ id }) => id === languageId)
  assert(language !== undefined, `there are no samples in ${languageId}`)
  const operation = httpOperations.find(({ id }) => id === operationId)
  assert(operation?.http !== undefined, `no operation of the API is called ${operationId}`)
  return filled(templateOf(language), { baseUrl, ...valuesOf(operation, operation.http, language) })
}

function valuesOf(operation: Operation, { method, path }: NonNullable<Operation['http']>, language: SampleLanguage) {
  const { id, summary, example } = operation
  const body = operation.hasBody ? bodyOf(operation) : undefined
  const ids = Object.entries(example?.params ?? {})
  const search = new URLSearchParams(example?.query).toString()
  const whole = search === '' ? path : `${path}?${search}`
  return {
    ...{ ...samplePlaceholders, apiVersion, method, summary, path: whole },
    signed: operation.audience !== 'public',
    idempotent: operation.idempotency === 'required',
    program: language.programName(id),
    ids: ids.map(([name, value]) => ({ variable: language.variable(name), value })),
    // Below the base URL, and the body, as the language writes them.
    url: language.url(whole),
    body: body && language.body(body),
    // Of the client alone.
    takesBody: takesBody(operation, body),
    clientCall: clientCall(operation, body),
  }
}

/** Every language has its own way to write an object, so the samples have those of text only. */
function bodyOf({ id, example }: Operation): SampleBody {
  const body = (example?.body ?? {}) as Record<string, unknown>
  for (const [name, value] of Object.entries(body))
    assert(typeof value === 'string', `the samples of ${id} cannot write its example: ${name} is not text`)
  return body as SampleBody
}

/** The program of a language, in which all that differs between operations is left open. */
const templateOf = ({ id }: SampleLanguage) =>
  readFileSync(new URL(`../samples/${id}.mustache`, import.meta.url), 'utf8')
    .replaceAll(/\{\{! .*? \}\}\n/gs, '')
    // A line with nothing but the begin or end of a section is no line of the program.
    .replaceAll(/^(\{\{[#^/]\w+\}\})\n/gm, '$1')

type Value = string | boolean | undefined | readonly Values[]
interface Values {
  readonly [name: string]: Value
}

/**
 * The part of Mustache that the samples need: `{{name}}` is a value, what is between `{{#name}}` and `{{/name}}` stands
 * there if there is a value, and once for each of a list. After `{{^name}}` it stands there if there is none.
 */
function filled(template: string, values: Values): string {
  return template
    .replaceAll(/\{\{([#^])(\w+)\}\}(.*?)\{\{\/\2\}\}/gs, (_, kind: string, name: string, inner: string) => {
      const value = values[name]
      if (Array.isArray(value)) return value.map((one) => filled(inner, { ...values, ...one })).join('')
      return (kind === '#') === Boolean(value) ? filled(inner, values) : ''
    })
    .replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => `${values[name] ?? ''}`)
}

/** The samples of an operation as the OpenAPI extension `x-codeSamples` has them. */
export function codeSamplesOf(operationId: string, options: SampleOptions) {
  return sampleLanguages.map(({ id, name, codeSample }) => ({
    lang: codeSample,
    label: name,
    source: sampleOf(id, operationId, options),
  }))
}
