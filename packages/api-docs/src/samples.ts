import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { apiVersion, httpOperations, type Operation } from '@backoffice/contracts'
import { type SampleLanguageId, sampleLanguageIds } from './served.ts'

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

/** The fields of an example, in their order. */
type SampleBody = Readonly<Record<string, string>>

/** A language that has a sample of every operation: `samples/<id>.mustache`. */
export interface SampleLanguage {
  readonly id: SampleLanguageId
  readonly name: string
  /** What highlight.js calls it. */
  readonly highlight: string
  /** What `x-codeSamples` calls it. */
  readonly codeSample: string
  /** The name under which a reader saves the sample. */
  readonly filename: (operationId: string) => string
  /** That name without its end. */
  readonly programName: (operationId: string) => string
  /** How a variable for an id of the path is called. */
  readonly variable: (id: string) => string
  /** An expression, or the end of a text, for a path with `{playerId}` and its like, and with its query. */
  readonly url: (path: string) => string
  /** An expression for an object. */
  readonly body: (fields: SampleBody) => string
}

/** `playerId` as `player_id`. */
const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
/** `createDeposit` as `create-deposit`. */
const kebabCase = (name: string): string => snakeCase(name).replaceAll('_', '-')
/** `createDeposit` as `CreateDeposit`. */
const pascalCase = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)
/** `playerId` as Go writes it. */
const initialism = (name: string): string => name.replace(/Id$/, 'ID')
const same = (name: string): string => name

/** The path with something in the place of each parameter. */
const pathWith = (path: string, parameter: (name: string) => string): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => parameter(name))

/** The URL in a language that joins texts by `+`. */
const joined = (baseUrl: string, path: string, variable = same): string =>
  `${baseUrl} + "${pathWith(path, (id) => `" + ${variable(id)} + "`)}"`.replace(' + ""', '')

/** The body as JSON text, indented like the code around it. */
const jsonOf = (body: SampleBody, indent = ''): string => JSON.stringify(body, null, 2).replaceAll('\n', `\n${indent}`)

/** For languages in which only the quote and the backslash need an escape. */
const inSingleQuotes = (value: string): string => `'${value.replaceAll(/['\\]/g, '\\$&')}'`

/** A line for each field, between brackets. */
function literal(
  body: SampleBody,
  field: (name: string, value: string) => string,
  { brackets = '{}', empty = '{}', lastComma = ',' } = {},
): string {
  const lines = Object.entries(body).map(([name, value]) => field(name, value))
  return lines.length === 0 ? empty : `${brackets[0]}\n${lines.join(',\n')}${lastComma}\n${brackets[1]}`
}

const objectOf = (body: SampleBody) => literal(body, (name, value) => `  ${name}: ${inSingleQuotes(value)}`)

const javaScript = {
  highlight: 'javascript',
  program: kebabCase,
  end: 'mjs',
  url: (path: string) => pathWith(path, (id) => `\${${id}}`),
  body: objectOf,
}

type Written = Pick<SampleLanguage, 'name' | 'highlight' | 'codeSample' | 'url' | 'body'> & {
  readonly program: (operationId: string) => string
  readonly end: string
  readonly variable?: (id: string) => string
}

const languages: Readonly<Record<SampleLanguageId, Written>> = {
  curl: {
    ...{ name: 'curl', highlight: 'bash', codeSample: 'Shell', program: kebabCase, end: 'sh' },
    url: (path) => pathWith(path, (id) => `$${id}`),
    body: (body) => jsonOf(body).replaceAll("'", String.raw`'\''`),
  },
  node: { ...javaScript, name: 'Node.js', codeSample: 'JavaScript' },
  client: { ...javaScript, name: 'TypeScript client', highlight: 'typescript', codeSample: 'TypeScript' },
  python: {
    ...{ name: 'Python', highlight: 'python', codeSample: 'Python', program: snakeCase, end: 'py' },
    variable: snakeCase,
    url: (path) =>
      path.includes('{') ? `f"{BASE_URL}${pathWith(path, (id) => `{${snakeCase(id)}}`)}"` : `BASE_URL + "${path}"`,
    body: (body) => literal(body, (name, value) => `    "${name}": ${JSON.stringify(value)}`),
  },
  php: {
    ...{ name: 'PHP', highlight: 'php', codeSample: 'PHP', program: kebabCase, end: 'php' },
    url: (path) => pathWith(path, (id) => `$${id}`),
    // An empty array would be a list.
    body: (body) =>
      literal(body, (name, value) => `    '${name}' => ${inSingleQuotes(value)}`, {
        brackets: '[]',
        empty: '(object) []',
      }),
  },
  ruby: {
    ...{ name: 'Ruby', highlight: 'ruby', codeSample: 'Ruby', program: snakeCase, end: 'rb' },
    variable: snakeCase,
    url: (path) => pathWith(path, (id) => `#{${snakeCase(id)}}`),
    body: (body) => literal(body, (name, value) => `  ${name}: ${inSingleQuotes(value)}`, { lastComma: '' }),
  },
  go: {
    ...{ name: 'Go', highlight: 'go', codeSample: 'Go', program: snakeCase, end: 'go' },
    variable: initialism,
    url: (path) => joined('baseURL', path, initialism),
    body: (body) => `\`${jsonOf(body, '\t')}\``,
  },
  java: {
    ...{ name: 'Java', highlight: 'java', codeSample: 'Java', program: pascalCase, end: 'java' },
    url: (path) => joined('BASE_URL', path),
    // A text block takes quotes as they are, and reads escapes.
    body: (body) => {
      const indent = ' '.repeat(16)
      return `"""\n${indent}${jsonOf(body, indent).replaceAll('\\', '\\\\')}"""`
    },
  },
  csharp: {
    ...{ name: 'C#', highlight: 'csharp', codeSample: 'C#', program: pascalCase, end: 'cs' },
    url: (path) => joined('BaseUrl', path),
    body: (body) => `@"${jsonOf(body, '        ').replaceAll('"', '""')}"`,
  },
}

/** In the order in which a page offers them. */
export const sampleLanguages: readonly SampleLanguage[] = sampleLanguageIds.map((id) => {
  const { program, end, ...language } = languages[id]
  const filename = (operationId: string) => `${program(operationId)}.${end}`
  return { id, variable: same, ...language, filename, programName: program }
})

/** Methods that have another name than the operation, or take single values; src/client.ts of the client has them. */
const methods: Readonly<Record<string, { readonly name?: string; readonly takes: 'values' | 'options' }>> = {
  getMe: { name: 'me', takes: 'options' },
  findPlayers: { name: 'findPlayer', takes: 'values' },
  openGameSession: { takes: 'values' },
  decideKycInSandbox: { name: 'decideKyc', takes: 'values' },
  decideWithdrawalInSandbox: { name: 'decideWithdrawal', takes: 'values' },
}

/** The others take the body, unless all of it may be left out: then its fields stand among the options. */
const takenBy = ({ id, body }: Operation) =>
  methods[id]?.takes ?? ((body.required ?? []).length > 0 ? 'body' : 'options')

/** Whether the method of the client gets a variable `body`. */
const takesBody = (operation: Operation, body: SampleBody | undefined): boolean =>
  takenBy(operation) === 'body' && body !== undefined

/** The call of the client's method. */
function clientCall(operation: Operation, body: SampleBody | undefined): string {
  const takes = takenBy(operation)
  const input = { ...operation.example?.query, ...body }
  // The numbers of a query are numbers here.
  const literalOf = (value: string) => (/^\d+$/.test(value) ? value : inSingleQuotes(value))
  const options = [
    ...(takes === 'options' ? Object.entries(input).map(([field, value]) => `${field}: ${literalOf(value)}`) : []),
    ...(operation.idempotency === 'required' ? ['idempotencyKey'] : []),
  ]
  const given = [
    ...Object.keys(operation.example?.params ?? {}),
    ...(takes === 'values' ? Object.values(input).map(inSingleQuotes) : []),
    ...(takesBody(operation, body) ? ['body'] : []),
    ...(options.length > 0 ? [`{ ${options.join(', ')} }`] : []),
  ]
  return `${methods[operation.id]?.name ?? operation.id}(${given.join(', ')})`
}
