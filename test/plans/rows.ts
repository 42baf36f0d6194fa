import { globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Client } from 'pg'
// The compiler's API; the compiler that checks the project has none.
import type ts from '../../packages/client/node_modules/typescript/lib/typescript.d.ts'

/** What a statement of the source says about a column of its rows. */
interface DeclaredColumn {
  readonly name: string
  /** The kinds of values that the type takes, such as `string` or `Date`; `any` takes all. */
  readonly kinds: ReadonlySet<string>
  readonly takesNull: boolean
  /** Somebody writes it down as a column that may be missing. */
  readonly isOptional: boolean
}

/** A template of the source that is sent, and its row type, if it has one. */
export interface SentTemplate {
  readonly place: string
  readonly pattern: RegExp
  /** How much of it is the same for all values: of two templates that fit a statement the one with more is meant. */
  readonly fixedLength: number
  readonly row: readonly DeclaredColumn[] | undefined
}

/** Reads every statement of the source, with its row type, by the compiler. */
export function sentTemplates(root: string): readonly SentTemplate[] {
  const compiler = createRequire(join(root, 'packages/client/'))('typescript') as typeof ts
  const base = compiler.readConfigFile(join(root, 'tsconfig.base.json'), (path) => readFileSync(path, 'utf8'))
  const { options } = compiler.parseJsonConfigFileContent(base.config, compiler.sys, root)
  const files = globSync('{services/*,packages/*}/src/**/*.ts', { cwd: root })
    .filter((file) => readFileSync(join(root, file), 'utf8').includes('@backoffice/') || file.includes('/database/'))
    .map((file) => join(root, file))
  const program = compiler.createProgram(files, options)
  return new Reader(compiler, program, root).templates
}

class Reader {
  readonly templates: SentTemplate[] = []
  readonly #compiler: typeof ts
  readonly #checker: ts.TypeChecker
  readonly #root: string

  constructor(compiler: typeof ts, program: ts.Program, root: string) {
    this.#compiler = compiler
    this.#checker = program.getTypeChecker()
    this.#root = root
    for (const file of program.getSourceFiles())
      if (
        file.fileName.startsWith(root) &&
        /^(services|packages)\/[\w-]+\/src\//.test(file.fileName.slice(root.length))
      )
        this.#read(file, file)
  }

  #read(file: ts.SourceFile, node: ts.Node): void {
    if (this.#compiler.isTaggedTemplateExpression(node) && this.#isDatabase(node.tag)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart())
      const { source, fixedLength } = this.#patternOf(node.template)
      const [type] = node.typeArguments ?? []
      this.templates.push({
        place: `${file.fileName.slice(this.#root.length)}:${line + 1}`,
        pattern: new RegExp(`^${source}$`),
        fixedLength,
        row: type === undefined ? undefined : this.#columnsOf(this.#checker.getTypeFromTypeNode(type), node),
      })
    }
    this.#compiler.forEachChild(node, (child) => this.#read(file, child))
  }

  #isDatabase(tag: ts.Expression): boolean {
    const [call] = this.#checker.getTypeAtLocation(tag).getCallSignatures()
    return call?.getTypeParameters()?.[0]?.symbol.name === 'Row'
  }

  #patternOf(template: ts.TemplateLiteral): { source: string; fixedLength: number } {
    if (this.#compiler.isNoSubstitutionTemplateLiteral(template))
      return { source: RegExp.escape(template.text), fixedLength: template.text.length }
    let source = RegExp.escape(template.head.text)
    let fixedLength = template.head.text.length
    for (const { expression, literal } of template.templateSpans) {
      const inner = this.#fragmentOf(expression)
      const part = inner === undefined ? { source: '[^]*?', fixedLength: 0 } : this.#patternOf(inner)
      source += part.source + RegExp.escape(literal.text)
      fixedLength += part.fixedLength + literal.text.length
    }
    return { source, fixedLength }
  }

  /** A fragment that the source names: `columns` of a constant, `byId(id)` of a function that only writes it. */
  #fragmentOf(expression: ts.Expression): ts.TemplateLiteral | undefined {
    const { isCallExpression, isIdentifier, isVariableDeclaration, isArrowFunction, isTaggedTemplateExpression } =
      this.#compiler
    const name = isCallExpression(expression) ? expression.expression : expression
    if (!isIdentifier(name)) return undefined
    const [declared] = this.#checker.getSymbolAtLocation(name)?.declarations ?? []
    if (declared === undefined || !isVariableDeclaration(declared)) return undefined
    const { initializer } = declared
    if (initializer === undefined) return undefined
    const body = isArrowFunction(initializer) ? initializer.body : initializer
    return isTaggedTemplateExpression(body) && body.tag.getText() === 'sql' ? body.template : undefined
  }

  #columnsOf(row: ts.Type, at: ts.Node): DeclaredColumn[] {
    return this.#checker.getPropertiesOfType(row).map((property) => {
      const type = this.#checker.getTypeOfSymbolAtLocation(property, at)
      const parts = type.isUnion() ? type.types : [type]
      const { TypeFlags, SymbolFlags } = this.#compiler
      const kinds = new Set(parts.map((part) => this.#kindOf(part)))
      return {
        name: property.name,
        kinds: new Set([...kinds].filter((kind) => kind !== 'null')),
        takesNull: kinds.has('null') || parts.some(({ flags }) => (flags & (TypeFlags.Any | TypeFlags.Unknown)) !== 0),
        isOptional: (property.flags & SymbolFlags.Optional) !== 0,
      }
    })
  }

  #kindOf(type: ts.Type): string {
    const { TypeFlags: is } = this.#compiler
    if (type.flags & (is.Null | is.Undefined)) return 'null'
    if (type.flags & is.StringLike) return 'string'
    if (type.flags & is.NumberLike) return 'number'
    if (type.flags & is.BigIntLike) return 'bigint'
    if (type.flags & is.BooleanLike) return 'boolean'
    if (this.#checker.isArrayType(type)) {
      const [item] = this.#checker.getTypeArguments(type as ts.TypeReference)
      return item === undefined ? 'any' : `${this.#kindOf(item)}[]`
    }
    if (['Date', 'Buffer', 'Uint8Array'].includes(type.symbol?.name ?? '')) return type.symbol.name
    // What is parsed from JSON, and what is of any type.
    return 'any'
  }
}

/** A column as PostgreSQL describes it, before anything is run. */
interface DescribedColumn {
  readonly name: string
  readonly kind: string
  /** `unknown`: it is the result of an expression, or of a table that an outer join may leave out. */
  readonly nulls: 'never' | 'possible' | 'unknown'
}

interface Field {
  readonly name: string
  readonly tableID: number
  readonly columnID: number
  readonly dataTypeID: number
}

/** As `db` decodes them. */
const kinds: Readonly<Record<string, string>> = {
  ...{
    bool: 'boolean',
    int2: 'number',
    int4: 'number',
    int8: 'bigint',
    oid: 'number',
    float4: 'number',
    float8: 'number',
  },
  ...{
    text: 'string',
    varchar: 'string',
    bpchar: 'string',
    name: 'string',
    char: 'string',
    uuid: 'string',
    xid8: 'string',
  },
  ...{ numeric: 'string', date: 'string', timestamptz: 'Date', timestamp: 'Date', bytea: 'Buffer', regclass: 'string' },
}

/** Asks PostgreSQL what the rows of a statement are like. */
export class Describer {
  readonly #client: Client
  readonly #types: ReadonlyMap<number, string>
  /** Of each column, by `table oid/number`, whether it is never null; with the table's name. */
  readonly #columns: ReadonlyMap<string, { readonly table: string; readonly notNull: boolean }>

  private constructor(client: Client, types: Describer['#types'], columns: Describer['#columns']) {
    this.#client = client
    this.#types = types
    this.#columns = columns
  }

  static async connect(databaseUrl: string): Promise<Describer> {
    const client = new Client({ connectionString: databaseUrl })
    await client.connect()
    const { rows: types } = await client.query<{ oid: number; kind: string; item: string | null }>(
      `select t.oid, t.typname as kind, i.typname as item from pg_type t
      left join pg_type i on i.oid = t.typelem and t.typcategory = 'A'`,
    )
    const { rows: columns } = await client.query<{ key: string; table: string; notNull: boolean }>(
      `select attrelid || '/' || attnum as key, relname as table, attnotnull as "notNull"
      from pg_attribute join pg_class c on c.oid = attrelid where attnum > 0 and relkind in ('r', 'p')`,
    )
    return new Describer(
      client,
      new Map(
        types.map(({ oid, kind, item }) => [oid, item === null ? (kinds[kind] ?? 'any') : `${kinds[item] ?? 'any'}[]`]),
      ),
      new Map(columns.map(({ key, ...column }) => [key, column])),
    )
  }

  close(): Promise<void> {
    return this.#client.end()
  }

  /** @returns undefined where none of the schemas has what the statement names */
  async describe(text: string, schemas: readonly string[]): Promise<readonly DescribedColumn[] | undefined> {
    for (const schema of schemas) {
      await this.#client.query(`set search_path = ${schema}`)
      const fields = await this.#fieldsOf(text).catch((error) => {
        if (/^42/.test((error as { code?: string }).code ?? '')) return undefined
        throw error
      })
      if (fields === undefined) continue
      const left = leftOut(text)
      const written = expressionsOf(text)
      return fields.map(({ name, tableID, columnID, dataTypeID }, index) => ({
        name: name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
        kind: this.#types.get(dataTypeID) ?? 'any',
        nulls: this.#nullsOf(this.#columns.get(`${tableID}/${columnID}`), left, written?.[index]),
      }))
    }
    return undefined
  }

  #nullsOf(
    column: { readonly table: string; readonly notNull: boolean } | undefined,
    left: (table: string) => boolean,
    written: string | undefined,
  ): DescribedColumn['nulls'] {
    if (column !== undefined) return !column.notNull ? 'possible' : left(column.table) ? 'unknown' : 'never'
    return written !== undefined && neverNull.test(written) ? 'never' : 'unknown'
  }

  #fieldsOf(text: string): Promise<readonly Field[]> {
    return new Promise((resolve, reject) => {
      let fields: readonly Field[] = []
      let fault: Error | undefined
      this.#client.query({
        submit(connection: { parse(query: object): void; describe(query: object): void; sync(): void }) {
          connection.parse({ name: '', text, types: [] })
          connection.describe({ type: 'S', name: '' })
          connection.sync()
        },
        handleRowDescription(message: { readonly fields: readonly Field[] }) {
          fields = message.fields
        },
        handleError(error: Error) {
          fault = error
        },
        handleReadyForQuery() {
          if (fault === undefined) resolve(fields)
          else reject(fault)
        },
      } as never)
    })
  }
}

/** An expression of which everybody sees that it is never null. */
const neverNull =
  /^(coalesce\s*\(|count\s*\(|exists\s*\(|now\s*\(|clock_timestamp\s*\(|row_number\s*\(|true\b|false\b|'|\d|\$\d+::\w+\s+as\s+never_null)/i

/** The tables that a row of the statement may lack, since they are joined from outside. */
function leftOut(text: string): (table: string) => boolean {
  if (/\b(right|full)\s+(outer\s+)?join\b/i.test(text)) return () => true
  const names = new Set<string>()
  for (const { index, 0: words } of text.matchAll(/\bleft\s+(?:outer\s+)?join\s+(?:lateral\s+)?/gi)) {
    const rest = text.slice(index + words.length)
    const joined = rest.startsWith('(') ? rest.slice(0, closing(rest)) : (/^[\w."]+/.exec(rest)?.[0] ?? '')
    for (const name of joined.match(/\w+/g) ?? []) names.add(name)
  }
  return (table) => names.has(table)
}

/** The expressions that a statement selects or returns; undefined where they cannot be told apart. */
function expressionsOf(text: string): string[] | undefined {
  let depth = 0
  let from: number | undefined
  const found: string[] = []
  const words = /\(|\)|,|'[^']*'|\b(?:select|returning|from|union|where|limit|order)\b/gi
  for (const { 0: word, index } of text.matchAll(words)) {
    if (word === '(') depth++
    else if (word === ')') depth--
    else if (depth > 0) continue
    else if (/^(select|returning)$/i.test(word)) {
      from = index + word.length
      found.length = 0
    } else if (from !== undefined && word === ',') {
      found.push(text.slice(from, index))
      from = index + 1
    } else if (from !== undefined && /^(from|where|limit|order)$/i.test(word)) {
      found.push(text.slice(from, index))
      from = undefined
    } else if (/^union$/i.test(word)) return undefined
  }
  if (from !== undefined) found.push(text.slice(from))
  const expressions = found.map((one) => one.replace(/^\s*distinct\s+(on\s*\([^)]*\))?/i, '').trim())
  return expressions.some((one) => one.includes('*')) && expressions.some((one) => /(^|\.)\*$/.test(one))
    ? undefined
    : expressions
}

function closing(text: string): number {
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '(') depth++
    if (text[index] === ')' && --depth === 0) return index
  }
  return text.length
}

/** What of a row type is not what PostgreSQL says of the statement. */
export function faultsOf(declared: readonly DeclaredColumn[], described: readonly DescribedColumn[]): string[] {
  const byName = new Map(described.map((column) => [column.name, column]))
  return declared.flatMap(({ name, kinds: takes, takesNull, isOptional }) => {
    const column = byName.get(name)
    if (column === undefined) return isOptional ? [] : [`${name} is not selected`]
    const { kind, nulls } = column
    const kindFits =
      takes.has('any') || kind.startsWith('any') || takes.has(kind) || takes.has(kind.replace(/^.*\[\]$/, 'any[]'))
    const faults = kindFits ? [] : [`${name} is a ${kind}, and declared as ${[...takes].join(' | ')}`]
    if (nulls === 'possible' && !takesNull) faults.push(`${name} may be null`)
    if (nulls === 'unknown' && !takesNull) faults.push(`${name} may be null, as far as the statement tells`)
    return faults
  })
}
