import { stripTypeScriptTypes } from 'node:module'
import {
  type AnyNode,
  type BinaryExpression,
  type CallExpression,
  type Expression,
  type IfStatement,
  type LogicalExpression,
  type Node,
  parse,
} from 'acorn'
import { fullAncestor } from 'acorn-walk'
import { type Edit, sqlEdits } from './sql.ts'

/** One small mistake in one file. */
export interface Mutant extends Edit {
  /** From the root of the repository, with slashes. */
  readonly path: string
  readonly line: number
  /** The change in one line, for people. */
  readonly change: string
}

const comparisons: Readonly<Record<string, readonly string[]>> = {
  '===': ['!=='],
  '!==': ['==='],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
}
const logical = { '&&': '||', '||': '&&', '??': '&&' } as const
const swapped: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
])
/** Methods whose result is like what they are called on. */
const dropped = new Set(['filter', 'sort', 'toSorted', 'reverse', 'toReversed', 'slice'])
/** A larger number is a limit, which nobody notices when it is off by one. */
const smallNumberMax = 10

/** All mutants of a source file, in the order of the text. */
export function mutantsOf(path: string, source: string): readonly Mutant[] {
  // Types become blanks of the same length, so that a place in the tree is the place in the source.
  const tree = parse(stripTypeScriptTypes(source), { ecmaVersion: 'latest', sourceType: 'module' })
  const edits: Edit[] = []
  fullAncestor(tree, (_node, _state, ancestors) => {
    const nodes = ancestors as unknown as readonly AnyNode[]
    if (!nodes.some(isForPeople)) edits.push(...editsOf(nodes, source))
  })
  const unique = new Map(edits.map((edit) => [`${edit.start} ${edit.end} ${edit.replacement}`, edit]))
  return [...unique.values()]
    .sort((one, other) => one.start - other.start || one.end - other.end)
    .map((edit) => ({
      ...edit,
      path,
      line: source.slice(0, edit.start).split('\n').length,
      change: shown(source, edit),
    }))
}

export function applied(source: string, { start, end, replacement }: Edit): string {
  return source.slice(0, start) + replacement + source.slice(end)
}

function shown(source: string, edit: Edit): string {
  const { start, end } = edit.within ?? edit
  const texts = [source.slice(start, end), applied(source, edit).slice(start, end + growth(edit))]
  const [from, to] = texts.map((text) => text.replaceAll(/\s+/g, ' ').trim())
  return `${from} → ${to === '' || to === ';' ? 'nothing' : to}`
}

const growth = ({ start, end, replacement }: Edit) => replacement.length - (end - start)

/** Assertions, messages of faults and logs: they state bugs to people, and no promise depends on them. */
function isForPeople(node: AnyNode): boolean {
  if (node.type === 'NewExpression') return node.callee.type === 'Identifier' && node.callee.name === 'Error'
  if (node.type === 'ImportDeclaration') return true
  if (node.type !== 'CallExpression') return false
  const { callee } = node
  if (callee.type === 'Identifier') return callee.name === 'assert' || callee.name === 'unexpected'
  return callee.type === 'MemberExpression' && /^#?log$/.test(lastName(callee.object))
}

/** `log` of `tools.log`. */
function lastName(node: Node): string {
  const named = node as AnyNode
  if (named.type === 'Identifier' || named.type === 'PrivateIdentifier') return named.name
  if (named.type === 'MemberExpression') return lastName(named.property)
  if (named.type === 'CallExpression') return lastName(named.callee)
  return ''
}

/** @param nodes from the root of the tree to the one that is changed */
function editsOf(nodes: readonly AnyNode[], source: string): readonly Edit[] {
  const node = nodes.at(-1)
  const replace = (replacement: string, { start, end }: Pick<Node, 'start' | 'end'>): Edit => ({
    start,
    end,
    replacement,
  })
  switch (node?.type) {
    case 'BinaryExpression':
      return isText(node) ? [] : operatorEdits(node, comparisons[node.operator] ?? [], source)
    case 'LogicalExpression':
      return operatorEdits(node, [logical[node.operator]], source)
    case 'ConditionalExpression':
      return ['true', 'false'].map((value) => replace(value, node.test))
    case 'IfStatement':
      return (throwsBug(node) ? ['true'] : ['true', 'false']).map((value) => replace(value, node.test))
    case 'UnaryExpression':
      return node.operator === '!' || node.operator === '-'
        ? [replace('', { start: node.start, end: node.start + 1 })]
        : []
    case 'Literal':
      return isKey(nodes) ? [] : literalEdits(node.raw ?? '').map((text) => replace(text, node))
    case 'CallExpression':
      return callEdits(node)
    case 'ExpressionStatement':
      return hasEffect(node.expression) ? [replace(';', node)] : []
    case 'ThrowStatement':
      return isBug(node.argument) ? [] : [replace(';', node)]
    case 'TaggedTemplateExpression': {
      if (!/^#?(?:db|sql|tx)$/.test(lastName(node.tag))) return []
      const offset = node.quasi.start + 1
      return sqlEdits(source.slice(offset, node.quasi.end - 1)).map(({ start, end, replacement }) =>
        replace(replacement, { start: start + offset, end: end + offset }),
      )
    }
    default:
      return []
  }
}

function operatorEdits(
  { left, right, operator, ...within }: BinaryExpression | LogicalExpression,
  replacements: readonly string[],
  source: string,
): readonly Edit[] {
  const start = source.indexOf(operator, left.end)
  if (start < 0 || start >= right.start) return []
  return replacements.map((replacement) => ({ start, end: start + operator.length, replacement, within }))
}

/** `+` that joins text. */
const isText = ({ operator, left, right }: BinaryExpression) =>
  operator === '+' && [left, right].some((side) => side.type === 'TemplateLiteral' || isString(side as AnyNode))
const isString = (node: AnyNode) => node.type === 'Literal' && typeof node.value === 'string'

/** Whether a thrown value is a fault of ours, and no reply. */
const isBug = (node: Expression) => isForPeople(node as AnyNode)
function throwsBug({ consequent }: IfStatement): boolean {
  const [only = consequent] = consequent.type === 'BlockStatement' ? consequent.body : []
  return only.type === 'ThrowStatement' && isBug(only.argument)
}

const hasEffect = (expression: Expression) =>
  /^(?:Call|Await|Assignment|Update)Expression$/.test(expression.type) && !isForPeople(expression as AnyNode)

function isKey(nodes: readonly AnyNode[]): boolean {
  const [parent, node] = [nodes.at(-2), nodes.at(-1)]
  return parent?.type === 'Property' && parent.key === node && !parent.computed
}

function literalEdits(raw: string): readonly string[] {
  if (raw === 'true') return ['false']
  if (raw === 'false') return ['true']
  const [, digits] = /^(\d+)n?$/.exec(raw) ?? []
  return digits === undefined || Number(digits) > smallNumberMax
    ? []
    : [raw.replace(digits, String(Number(digits) + 1))]
}

function callEdits({ callee, end }: CallExpression): readonly Edit[] {
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return []
  const { name, start, end: nameEnd } = callee.property
  const other = swapped.get(name)
  if (other !== undefined) return [{ start, end: nameEnd, replacement: other }]
  return dropped.has(name) ? [{ start: callee.object.end, end, replacement: '' }] : []
}
