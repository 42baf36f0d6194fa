import type { Node } from './query-tree.ts'

/** What PostgreSQL's catalogue says of what a statement names. */
export interface Catalogue {
  /** Columns that are `not null`, as `table.column` in PostgreSQL's numbers. */
  readonly notNull: ReadonlySet<string>
  /** The queries of views, by their numbers. */
  readonly views: ReadonlyMap<string, Node>
  readonly functions: ReadonlyMap<string, { readonly name: string; readonly isStrict: boolean }>
  /** Columns that a constraint of their table fills together, by each of them. */
  readonly together: ReadonlyMap<string, readonly string[]>
}

/** A query, with what is around it, and what its conditions leave no null in. */
interface Scope {
  readonly query: Node
  readonly outer: Scope | undefined
  /** Columns without null, as `table.column`, by their places in the query. */
  readonly present: ReadonlySet<string>
  /** Outer joins that find a row, because a condition asks for one of it. */
  readonly found: ReadonlySet<number>
  /** Rows as an UPDATE finds them, and not as it returns them. */
  readonly isBefore?: boolean
}

/** Strict, but null also for values that are not null: by name and number of arguments. */
const mayFindNothing =
  /^(jsonb?_(object_field|array_element|extract_path)(_text)? .*|(substring|textregexsubstr|regexp_match|array_(length|upper|lower|position)|to_reg\w+) .*|current_setting 2)$/
/** Not strict, and yet never null. */
const alwaysThere =
  /^(jsonb?_build_(object|array)|concat|format|to_jsonb?|row_to_json|count|row_number|rank|dense_rank)$/
/** Functions whose rows have no null in them. */
const whole = /^(unnest|generate_series|jsonb?_array_elements(_text)?|jsonb?_object_keys|pg_control_system)$/
const joinType = { inner: 0, left: 1, full: 2, right: 3 }
const subLink = { exists: 0, all: 1, any: 2, expression: 4, array: 6 }

/**
 * Tells whether a column of a statement may be null, by the statement as PostgreSQL understands it. A parameter counts as
 * present, and so does each element of an array: what the caller sends, its own types tell.
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
    const all = { query, outer, present: new Set<string>(), found: new Set<number>() }
    const scope = this.#given(all, conditionsOf(query.node('jointree')))
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
      case 'BOOLEANTEST':
      case 'DISTINCTEXPR':
      case 'ARRAYEXPR':
      case 'ROWEXPR':
      case 'SQLVALUEFUNCTION':
      case 'GROUPINGFUNC':
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
      case 'ARRAYCOERCEEXPR':
      case 'COERCETODOMAIN':
      case 'COLLATEEXPR':
      case 'NAMEDARGEXPR':
        return this.#of(expression.node('arg'), scope)
      case 'CASEEXPR':
        return anyOf('args') || this.#of(expression.node('defresult'), scope)
      case 'CASEWHEN':
        return this.#of(expression.node('result'), this.#given(scope, [expression.node('expr') as Node]))
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

  /** What is there where conditions hold. */
  #given(scope: Scope, conditions: readonly Node[]): Scope {
    const needed = conditions.flatMap((one) => this.#neededBy(one))
    const columns = needed.flatMap((variable) => [
      keyOf(variable),
      ...this.#filledWith(variable, scope).map((column) => `${variable.value('varno')}.${column}`),
    ])
    const joins = needed.flatMap((variable) => variable.numbers('varnullingrels'))
    const ofOneSide = joins.filter((join) => tableOf(scope, join).number('jointype') !== joinType.full)
    return {
      ...scope,
      present: new Set([...scope.present, ...columns]),
      found: new Set([...scope.found, ...ofOneSide]),
    }
  }

  /** The columns without which a condition is not true. */
  #neededBy(condition: Node): readonly Node[] {
    const { kind } = condition
    if (kind === 'NULLTEST' && condition.value('nulltesttype') === '1') return this.#strictIn([condition.node('arg')])
    if (kind !== 'BOOLEXPR' || condition.value('boolop') === 'or') return this.#strictIn([condition])
    const args = condition.nodes('args')
    return condition.value('boolop') === 'not' ? this.#strictIn(args) : args.flatMap((one) => this.#neededBy(one))
  }

  /** The columns without which expressions are null. */
  #strictIn(expressions: readonly (Node | undefined)[]): readonly Node[] {
    return expressions.flatMap((one): readonly Node[] => {
      const isStrict = (field: string) => this.#catalogue.functions.get(one?.value(field) ?? '')?.isStrict
      if (one?.kind === 'VAR') return one.number('varlevelsup') === 0 ? [one] : []
      if (one?.kind === 'RELABELTYPE' || one?.kind === 'COERCEVIAIO') return this.#strictIn([one.node('arg')])
      // Of no element at all, ALL is true for null too.
      if (one?.kind === 'SCALARARRAYOPEXPR' && one.value('useOr') === 'true' && isStrict('opfuncid'))
        return this.#strictIn(one.nodes('args').slice(0, 1))
      return (one?.kind === 'OPEXPR' && isStrict('opfuncid')) || (one?.kind === 'FUNCEXPR' && isStrict('funcid'))
        ? this.#strictIn(one.nodes('args'))
        : []
    })
  }

  #filledWith(variable: Node, scope: Scope): readonly string[] {
    const table = tableOf(scope, variable.number('varno'))
    return this.#catalogue.together.get(`${table.value('relid')}.${variable.value('varattno')}`) ?? []
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
    const written = scope.isBefore ? undefined : assignmentOf(scope.query, variable)
    if (written !== undefined) return this.#of(written, { ...scope, isBefore: true })
    if (scope.present.has(keyOf(variable))) return false
    if (variable.numbers('varnullingrels').some((join) => !scope.found.has(join))) return true
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
      case '2':
        return this.#of(table.nodes('joinaliasvars')[column - 1], scope)
      case '3':
        return this.#ofFunction(table, column, scope)
      case '5':
        return table.parts('values_lists').some((row) => this.#of((row as Node[])[column - 1], scope))
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

/** What an UPDATE has written into a column that it returns. */
const assignmentOf = (query: Node, variable: Node): Node | undefined =>
  query.number('commandType') === 2 && query.value('resultRelation') === variable.value('varno')
    ? query
        .nodes('targetList')
        .find((one) => one.value('resno') === variable.value('varattno'))
        ?.node('expr')
    : undefined

const tableOf = ({ query }: Scope, place: number): Node => query.nodes('rtable')[place - 1] as Node

const keyOf = (variable: Node): string => `${variable.value('varno')}.${variable.value('varattno')}`

/** The tables of a query that stand for the parts of a UNION. */
function branchesOf(operation: Node): number[] {
  if (operation.kind === 'RANGETBLREF') return [operation.number('rtindex')]
  return [operation.node('larg'), operation.node('rarg')].flatMap((one) => (one === undefined ? [] : branchesOf(one)))
}

/** The conditions that each row of a query fulfils. */
function conditionsOf(part: Node | undefined): Node[] {
  if (part === undefined || part.kind === 'RANGETBLREF') return []
  const type = part.kind === 'JOINEXPR' ? part.number('jointype') : joinType.inner
  const [left, right] = [conditionsOf(part.node('larg')), conditionsOf(part.node('rarg'))]
  if (type === joinType.left) return left
  if (type === joinType.right) return right
  if (type !== joinType.inner) return []
  const quals = part.node('quals')
  return [...(quals === undefined ? [] : [quals]), ...left, ...right, ...part.nodes('fromlist').flatMap(conditionsOf)]
}
