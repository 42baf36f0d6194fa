import { createHash } from 'node:crypto'
import { escapeIdentifier } from 'pg'

/** A piece of SQL with its values, to be put into a statement. Its text must not vary with its values. */
export class Fragment {
  readonly strings: TemplateStringsArray
  readonly values: readonly unknown[]

  constructor(strings: TemplateStringsArray, values: readonly unknown[]) {
    this.strings = strings
    this.values = values
  }
}

/** Writes a piece of SQL that several statements share. */
export const sql = (strings: TemplateStringsArray, ...values: readonly unknown[]): Fragment =>
  new Fragment(strings, values)

/** The name of a table or column, quoted. Only for names that the source knows: each makes another statement. */
export const identifier = (name: string): Fragment => fixed(escapeIdentifier(name))

/** SQL without values. Like `identifier`, only for text that the source knows. */
export const fixed = (text: string): Fragment => new Fragment([text] as unknown as TemplateStringsArray, [])

/** A statement as PostgreSQL prepares it: once per connection, under a name that follows from its text. */
export class Statement {
  readonly text: string
  readonly name: string
  /** The names of its columns as a row has them; known after the first execution. */
  columns: readonly string[] | undefined

  constructor(text: string) {
    this.text = text
    this.name = `s${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
  }
}

const byTemplate = new WeakMap<TemplateStringsArray, Statement>()
const byText = new Map<string, Statement>()

/**
 * The statement that a template stands for. A template is written once in the source, so it is compiled once; only one
 * with fragments in it is put together again at each call.
 */
export function compile(
  strings: TemplateStringsArray,
  values: readonly unknown[],
): { readonly statement: Statement; readonly values: readonly unknown[] } {
  if (values.some((value) => value instanceof Fragment)) {
    const bound: unknown[] = []
    return { statement: named(textOf(strings, values, bound)), values: bound }
  }
  let statement = byTemplate.get(strings)
  if (statement === undefined) {
    statement = named(textOf(strings, values, []))
    byTemplate.set(strings, statement)
  }
  return { statement, values }
}

function named(text: string): Statement {
  let statement = byText.get(text)
  if (statement === undefined) {
    statement = new Statement(text)
    byText.set(text, statement)
  }
  return statement
}

/** Every statement that this process has compiled so far. */
export const knownStatements = (): readonly Statement[] => [...byText.values()]

/** The text with numbered parameters; each value that it binds is added to `bound`. */
function textOf(strings: TemplateStringsArray, values: readonly unknown[], bound: unknown[]): string {
  let text = ''
  strings.forEach((part, index) => {
    text += part
    if (index >= values.length) return
    const value = values[index]
    if (value instanceof Fragment) text += textOf(value.strings, value.values, bound)
    else text += `$${bound.push(value)}`
  })
  return text
}

/** How a column is called in a row: `brand_id` is `brandId`. */
export const camelCase = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())
