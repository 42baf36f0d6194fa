// What the samples of several languages write in the same way.

/** The path with something in the place of each parameter. */
export const pathWith = (path: string, parameter: (name: string) => string): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => parameter(name))

/**
 * The URL as an expression of a language that joins texts by `+`: the constant of the base URL, the path as text, and the
 * variables of its ids.
 */
export function joinedUrl(baseUrl: string, path: string, variable: (id: string) => string = (id) => id): string {
  const parts = pathWith(path, (id) => `" + ${variable(id)} + "`)
  return `${baseUrl} + "${parts}"`.replace(' + ""', '')
}

/** The text of a program. A part is a line, or several, or false where this program has no such line. */
export const lines = (...parts: readonly (string | false | readonly string[])[]): string =>
  parts.flatMap((part) => (part === false ? [] : part)).join('\n')

/** Names and values in their order; none of a record that is undefined. */
export const entriesOf = (record: Readonly<Record<string, string>> = {}): [name: string, value: string][] =>
  Object.entries(record)

/** The body as JSON text, indented like the code around it. */
export const jsonOf = (body: Readonly<Record<string, string>> = {}, indent = ''): string =>
  JSON.stringify(body, null, 2).replaceAll('\n', `\n${indent}`)

/** Text in single quotes, for languages in which only the quote and the backslash need an escape. */
export const inSingleQuotes = (value: string): string => `'${value.replaceAll(/['\\]/g, '\\$&')}'`

/** Text in double quotes, for languages that know the escapes of JSON. */
export const inDoubleQuotes = (value: string): string => JSON.stringify(value)

/** `playerId` as `player_id`. */
export const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
/** `createDeposit` as `create-deposit`. */
export const kebabCase = (name: string): string => snakeCase(name).replaceAll('_', '-')
/** `createDeposit` as `CreateDeposit`. */
export const pascalCase = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)
