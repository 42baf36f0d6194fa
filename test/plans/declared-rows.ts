import { relative } from 'node:path'
import type { Node, TemplateLiteral } from 'typescript/unstable/ast'
import { isNoSubstitutionTemplateLiteral, isTaggedTemplateExpression } from 'typescript/unstable/ast/is'
import { API, type Checker, type Project, SymbolFlags, type Type, TypeFlags } from 'typescript/unstable/sync'

/** A field of a declared row. */
export interface DeclaredField {
  readonly name: string
  /** What a value of it is, apart from null: `string`, `Date[]`, or `object` for what only JSON holds. */
  readonly kind: string
  readonly mayBeNull: boolean
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

/** Of a row that is one of several, a field that some have not may be null. */
function fieldsOf(checker: Checker, row: Type): DeclaredField[] {
  const rows = membersOf(row).map(
    (one) => new Map(checker.getPropertiesOfType(one).map((field) => [field.name, field])),
  )
  return [...new Set(rows.flatMap((fields) => [...fields.keys()]))].map((name) => {
    const found = rows.flatMap((fields) => fields.get(name) ?? [])
    const types = found.flatMap((field) => membersOf(checker.getTypeOfSymbol(field) as Type))
    return {
      name,
      kind: kindsOf(checker, types),
      mayBeNull:
        found.length < rows.length || types.some(({ flags }) => flags & (TypeFlags.Null | TypeFlags.AnyOrUnknown)),
      isOptional: found.some(({ flags }) => flags & SymbolFlags.Optional),
    }
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
