import { relative } from 'node:path'
import pg from 'pg'
import type { Node, TemplateLiteral } from 'typescript/unstable/ast'
import { isNoSubstitutionTemplateLiteral, isTaggedTemplateExpression } from 'typescript/unstable/ast/is'
import { API, type Checker, type Project, SymbolFlags, type Type, TypeFlags } from 'typescript/unstable/sync'
import { inItsSchema } from './plan.ts'

/** A field of a declared row. */
export interface DeclaredField {
  readonly name: string
  /** What a value of it is, apart from null: `string`, `Date[]`, or `object` for what only JSON holds. */
  readonly kind: string
  /** Statements may leave it out. */
  readonly isOptional: boolean
}

/** A statement of the source. */
export interface SourceTemplate {
  /** `file:line` below the root. */
  readonly place: string
  /** Its text without what is put into it, as the tag gets it. */
  readonly strings: readonly string[]
  readonly fields: readonly DeclaredField[]
  /** It does not say which fields its rows have. */
  readonly isOpen: boolean
}

/** Every statement that the sources send by the tag `db`, with the rows that it declares, as the compiler sees them. */
export function readTemplates(root: string, isSource: (file: string) => boolean): SourceTemplate[] {
  const compiler = new API({ cwd: root })
  try {
    const [project] = compiler.updateSnapshot({ openProjects: [`${root}/tsconfig.json`] }).getProjects() as [Project]
    const files = project.rootFiles.map((path) => ({ path, file: relative(root, path) }))
    return files.filter(({ file }) => isSource(file)).flatMap(({ path, file }) => templatesIn(project, path, file))
  } finally {
    compiler.close()
  }
}

function templatesIn({ program, checker }: Project, path: string, file: string): SourceTemplate[] {
  const source = program.getSourceFile(path)
  const found: SourceTemplate[] = []
  const visit = (node: Node): void => {
    node.forEachChild(visit)
    if (!isTaggedTemplateExpression(node)) return
    const row = rowOf(checker, node)
    if (row === undefined) return
    const { line } = source?.getLineAndCharacterOfPosition(node.template.getStart(source)) ?? { line: -1 }
    const fields = fieldsOf(checker, row)
    const isOpen =
      row.isTypeParameter() || checker.getIndexInfosOfType(row).some(({ valueType }) => !isNever(valueType))
    found.push({ place: `${file}:${line + 1}`, strings: stringsOf(node.template), fields, isOpen })
  }
  source?.forEachChild(visit)
  return found
}

/** The type `Row` of a tag that gives a `Promise<Row[]>`, as no tag but `db` does. */
function rowOf(checker: Checker, tagged: Node): Type | undefined {
  const signature = checker.getResolvedSignature(tagged)
  const promise = signature && checker.getReturnTypeOfSignature(signature)
  if (promise?.getSymbol()?.name !== 'Promise') return undefined
  const [rows] = argumentsOf(checker, promise)
  return rows && argumentsOf(checker, rows)[0]
}

const isNever = ({ flags }: Type): boolean => Boolean(flags & TypeFlags.Never)

const argumentsOf = (checker: Checker, type: Type): readonly Type[] =>
  type.isTypeReference() ? checker.getTypeArguments(type) : []

function stringsOf(template: TemplateLiteral): string[] {
  if (isNoSubstitutionTemplateLiteral(template)) return [template.text]
  return [template.head.text, ...template.templateSpans.map(({ literal }) => literal.text)]
}

/** Of a row that is one of several, the fields of all. */
function fieldsOf(checker: Checker, row: Type): DeclaredField[] {
  const rows = membersOf(row).map(
    (one) => new Map(checker.getPropertiesOfType(one).map((field) => [field.name, field])),
  )
  return [...new Set(rows.flatMap((fields) => [...fields.keys()]))].map((name) => {
    const found = rows.flatMap((fields) => fields.get(name) ?? [])
    const types = found.flatMap((field) => membersOf(checker.getTypeOfSymbol(field) as Type))
    const isOptional = found.some(({ flags }) => flags & SymbolFlags.Optional)
    return { name, kind: kindsOf(checker, types), isOptional }
  })
}

const membersOf = (type: Type): readonly Type[] => (type.isUnionType() ? type.getTypes() : [type])

function kindsOf(checker: Checker, types: readonly Type[]): string {
  const kinds = types.filter(({ flags }) => !(flags & TypeFlags.Nullable)).map((one) => kindOf(checker, one))
  return [...new Set(kinds)].sort().join(' | ')
}

const kindsOfFlags = [
  [TypeFlags.AnyOrUnknown, 'unknown'],
  [TypeFlags.StringLike, 'string'],
  [TypeFlags.NumberLike, 'number'],
  [TypeFlags.BigIntLike, 'bigint'],
  [TypeFlags.BooleanLike, 'boolean'],
] as const

function kindOf(checker: Checker, type: Type): string {
  const simple = kindsOfFlags.find(([flags]) => type.flags & flags)?.[1]
  if (simple !== undefined) return simple
  // A text that is told apart by a mark: `string & { … }`.
  if (type.isIntersectionType()) return kindOf(checker, type.getTypes()[0] as Type)
  if (checker.isArrayType(type)) return `${kindsOf(checker, membersOf(argumentsOf(checker, type)[0] as Type))}[]`
  const name = type.getSymbol()?.name
  return name === 'Date' || name === 'Buffer' ? name : 'object'
}

/** What a value of a PostgreSQL type is in a row, as the driver and the tag `db` decode it. */
const kinds: Readonly<Record<string, string>> = {
  bigint: 'bigint',
  boolean: 'boolean',
  bytea: 'Buffer',
  character: 'string',
  date: 'string',
  'double precision': 'number',
  integer: 'number',
  name: 'string',
  numeric: 'string',
  smallint: 'number',
  text: 'string',
  'timestamp with time zone': 'Date',
  uuid: 'string',
}

/** An array of a type is `type[]`. */
const kindOfColumn = (type: string): string => type.replace(/^[^[]*/, (name) => kinds[name] ?? `unknown to this test`)
const isJson = (type: string): boolean => /^jsonb?$/.test(type)

/** How a column is called in a row. */
const fieldOf = (name: string) => name.replaceAll(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())

/** What is wrong with the rows that a template declares. What JSON holds is not known to PostgreSQL. */
export function faultsIn({ place, fields }: SourceTemplate, types: ReadonlyMap<string, string>): string[] {
  const given = new Map([...types].map(([name, type]) => [fieldOf(name), type]))
  return fields.flatMap(({ name, kind, isOptional }) => {
    const type = given.get(name)
    if (type === undefined)
      return isOptional ? [] : [`${place}: ${name} is declared, and the statement does not give it`]
    if (isJson(type) || kind === 'unknown' || kind === kindOfColumn(type)) return []
    return [`${place}: ${name} is declared as ${kind}, and is ${kindOfColumn(type)} (${type})`]
  })
}

/** Asks PostgreSQL for the columns of what statements give, and their types, without running them. */
export class Describer {
  readonly #client: pg.Client

  private constructor(client: pg.Client) {
    this.#client = client
  }

  static async connect(databaseUrl: string): Promise<Describer> {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    return new Describer(client)
  }

  close(): Promise<void> {
    return this.#client.end()
  }

  /** The type of each column of a statement, in the first of the schemas that have what it names. */
  describe(text: string, schemas: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return inItsSchema(this.#client, schemas, async () => {
      const columns = await this.#client.query(new Description(text)).columns
      const oids = columns.map(({ dataTypeID }) => dataTypeID)
      const { rows } = await this.#client.query('select $1::oid[]::regtype[]::text[] as types', [oids])
      return new Map(columns.map(({ name }, index) => [name, rows[0].types[index]]))
    })
  }
}

/** What the driver sends of a statement to hear what it gives, and no more. */
class Description implements pg.Submittable {
  readonly columns: Promise<readonly pg.FieldDef[]>
  readonly handleError: (error: Error) => void
  readonly #described: (columns: readonly pg.FieldDef[]) => void
  readonly #text: string
  #columns: readonly pg.FieldDef[] = []

  constructor(text: string) {
    const { promise, resolve, reject } = Promise.withResolvers<readonly pg.FieldDef[]>()
    this.columns = promise
    this.#described = resolve
    this.handleError = reject
    this.#text = text
  }

  submit(connection: pg.Connection): void {
    connection.parse({ name: '', text: this.#text, types: [] }, true)
    connection.describe({ type: 'S', name: '' }, true)
    connection.sync()
  }

  handleRowDescription({ fields }: { readonly fields: readonly pg.FieldDef[] }): void {
    this.#columns = fields
  }

  handleReadyForQuery(): void {
    this.#described(this.#columns)
  }
}
