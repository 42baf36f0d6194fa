import type { Operation } from '@backoffice/contracts'
import { type SampleLanguageId, sampleLanguageIds } from './served.ts'

/** The fields of an example, in their order. */
export type SampleBody = Readonly<Record<string, string>>

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
export const takesBody = (operation: Operation, body: SampleBody | undefined): boolean =>
  takenBy(operation) === 'body' && body !== undefined

/** The call of the client's method. */
export function clientCall(operation: Operation, body: SampleBody | undefined): string {
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
