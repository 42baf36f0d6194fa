import type { Node } from './query-tree.ts'

/** What PostgreSQL's catalogue says of what a statement names. */
export interface Catalogue {
  /** Columns that are `not null`, as `table.column` in PostgreSQL's numbers. */
  readonly notNull: ReadonlySet<string>
  /** The queries of views, by their numbers. */
  readonly views: ReadonlyMap<string, Node>
  readonly functions: ReadonlyMap<string, { readonly name: string; readonly isStrict: boolean }>
}

/** A query, with what is around it. */
interface Scope {
  readonly query: Node
  readonly outer: Scope | undefined
}

/** Strict, but null also for values that are not null: by name and number of arguments. */
const mayFindNothing =
  /^(jsonb?_(object_field|array_element|extract_path)(_text)? .*|(substring|textregexsubstr|regexp_match|array_(length|upper|lower|position)|to_reg\w+) .*|current_setting 2)$/
/** Not strict, and yet never null. */
const alwaysThere =
  /^(jsonb?_build_(object|array)|concat|format|to_jsonb?|row_to_json|count|row_number|rank|dense_rank)$/
/** Functions whose rows have no null in them. */
const whole = /^(unnest|generate_series|jsonb?_array_elements(_text)?|jsonb?_object_keys|pg_control_system)$/
const subLink = { exists: 0, all: 1, any: 2, expression: 4, array: 6 }

/**
 * Tells whether a column of a statement may be null, by the statement as PostgreSQL understands it. A parameter counts as
 * present, and so does each element of an array: what the caller sends, its own types tell. What it does not know may be
 * null, and so may a column that only a condition of the statement keeps from it: `row-types.ts` names those.
 */
export class Nullability {
  readonly #catalogue: Catalogue
  /** Queries that are being asked: one that refers to itself adds nothing. */
  readonly #asked = new Set<string>()

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue
  }

  /** @param place of the column in the result, from 1 */
  ofColumn(query: Node, place: number, outer?: Scope): boolean {
    const scope = { query, outer }
    const operations = query.node('setOperations')
    if (operations !== undefined) return branchesOf(operations).some((table) => this.#ofTable(table, place, scope))
    const target = targetsOf(query).find((one) => one.number('resno') === place)
    return this.#of(target?.node('expr'), scope)
  }

  #of(expression: Node | undefined, scope: Scope): boolean {
    if (expression === undefined) return true
    const anyOf = (field: string) => expression.nodes(field).some((one) => this.#of(one, scope))
    const allOf = (field: string) => expression.nodes(field).every((one) => this.#of(one, scope))
    switch (expression.kind) {
      case 'VAR':
        return this.#ofVariable(expression, scope)
      case 'CONST':
        return expression.value('constisnull') === 'true'
      case 'PARAM':
      case 'NULLTEST':
      case 'DISTINCTEXPR':
      case 'ARRAYEXPR':
        return false
      case 'FUNCEXPR':
        return this.#ofCall(expression, 'funcid', scope)
      case 'OPEXPR':
      case 'SCALARARRAYOPEXPR':
        return this.#ofCall(expression, 'opfuncid', scope)
      case 'BOOLEXPR':
        return anyOf('args')
      case 'COALESCEEXPR':
      case 'MINMAXEXPR':
        return allOf('args')
      case 'RELABELTYPE':
      case 'COERCEVIAIO':
      case 'NAMEDARGEXPR':
        return this.#of(expression.node('arg'), scope)
      case 'CASEEXPR':
        return anyOf('args') || this.#of(expression.node('defresult'), scope)
      case 'CASEWHEN':
        return this.#of(expression.node('result'), scope)
      case 'AGGREF':
        return this.#ofAggregate(expression, scope)
      case 'WINDOWFUNC':
        return !alwaysThere.test(this.#nameOf(expression.value('winfnoid')))
      case 'TARGETENTRY':
        return this.#of(expression.node('expr'), scope)
      case 'SUBLINK':
        return this.#ofSubLink(expression, scope)
      default:
        return true
    }
  }

  #nameOf(oid: string): string {
    return this.#catalogue.functions.get(oid)?.name ?? ''
  }

  #ofCall(call: Node, field: string, scope: Scope): boolean {
    const { name = '', isStrict = false } = this.#catalogue.functions.get(call.value(field)) ?? {}
    if (alwaysThere.test(name)) return false
    const values = call.nodes('args')
    return !isStrict || mayFindNothing.test(`${name} ${values.length}`) || values.some((one) => this.#of(one, scope))
  }

  /** Without a row to look at, only a count is there; each group has a row. */
  #ofAggregate(aggregate: Node, scope: Scope): boolean {
    const name = this.#nameOf(aggregate.value('aggfnoid'))
    if (name === 'count') return false
    const hasRows = scope.query.parts('groupClause').length > 0 && aggregate.node('aggfilter') === undefined
    if (!hasRows) return true
    return (
      !/^(array|jsonb?|jsonb?_object)_agg$/.test(name) && aggregate.nodes('args').some((one) => this.#of(one, scope))
    )
  }

  #ofSubLink(link: Node, scope: Scope): boolean {
    const type = link.number('subLinkType')
    if (type === subLink.exists || type === subLink.array) return false
    const query = link.node('subselect') as Node
    const isNull = this.ofColumn(query, 1, scope)
    if (type === subLink.any || type === subLink.all) return isNull || this.#of(link.node('testexpr'), scope)
    // A single value is there only if a row is: of an aggregate without groups, or of a query without tables.
    const isOneRow = query.value('hasAggs') === 'true' && query.parts('groupClause').length === 0
    const isFree = query.parts('rtable').length === 0 && query.node('jointree')?.node('quals') === undefined
    return isNull || !(isOneRow || isFree)
  }

  #ofVariable(variable: Node, from: Scope): boolean {
    let scope = from
    for (let up = variable.number('varlevelsup'); up > 0; up--) scope = scope.outer as Scope
    // The set of the outer joins that may find no row for it: `(b 1 2)`.
    if (variable.parts('varnullingrels').length > 1) return true
    return this.#ofTable(variable.number('varno'), variable.number('varattno'), scope)
  }

  /** A column of a table, or of what stands for one. A column before the first is the row itself, or PostgreSQL's own. */
  #ofTable(place: number, column: number, scope: Scope): boolean {
    const table = tableOf(scope, place)
    if (column <= 0) return false
    switch (table.value('rtekind')) {
      case '0': {
        const view = this.#catalogue.views.get(table.value('relid'))
        return view ? this.ofColumn(view, column) : !this.#catalogue.notNull.has(`${table.value('relid')}.${column}`)
      }
      case '1':
        return this.ofColumn(table.node('subquery') as Node, column, scope)
      case '3':
        return this.#ofFunction(table, column, scope)
      case '6':
        return this.#ofNamedQuery(table, column, scope)
      case '9':
        return this.#of(table.nodes('groupexprs')[column - 1], scope)
      default:
        return true
    }
  }

  /** A value, the rows of `whole`, a key of an object, or the number of a row, which is the last column. */
  #ofFunction(table: Node, column: number, scope: Scope): boolean {
    const calls = table.nodes('functions').map((one) => one.node('funcexpr') as Node)
    const names = calls.map((call) => this.#nameOf(call.value('funcid')))
    const isNumber = table.value('funcordinality') === 'true' && column === table.node('eref')?.parts('colnames').length
    const isKey = /^jsonb?_each/.test(names[0] ?? '') && column === 1
    if (isNumber || isKey || names.every((name) => whole.test(name))) return false
    const [only] = calls
    return calls.length > 1 || column > 1 || only?.value('funcretset') === 'true' || this.#of(only, scope)
  }

  #ofNamedQuery(table: Node, column: number, from: Scope): boolean {
    let scope = from
    for (let up = table.number('ctelevelsup'); up > 0; up--) scope = scope.outer as Scope
    const named = scope.query.nodes('cteList').find((one) => one.value('ctename') === table.value('ctename'))
    const asked = `${table.value('ctename')}.${column}`
    if (named?.value('cterecursive') === 'true' && this.#asked.has(asked)) return false
    this.#asked.add(asked)
    const mayBeNull = this.ofColumn(named?.node('ctequery') as Node, column, scope)
    this.#asked.delete(asked)
    return mayBeNull
  }
}

/** The columns of a query's result, in their order, with their names. */
export const targetsOf = (query: Node): readonly Node[] =>
  query
    .nodes(query.number('commandType') === 1 ? 'targetList' : 'returningList')
    .filter((one) => one.value('resjunk') !== 'true')

const tableOf = ({ query }: Scope, place: number): Node => query.nodes('rtable')[place - 1] as Node

/** The tables of a query that stand for the parts of a UNION. */
function branchesOf(operation: Node): number[] {
  if (operation.kind === 'RANGETBLREF') return [operation.number('rtindex')]
  return [operation.node('larg'), operation.node('rarg')].flatMap((one) => (one === undefined ? [] : branchesOf(one)))
}
