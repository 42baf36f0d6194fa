/** What a migration does that the release before it may not survive. */
const contractions: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['takes something away', /^drop\b|\bdrop\s+(?!not\s+null\b)/],
  ['renames', /\brename\b/],
  ['changes a type', /\balter\s+(?:column\s+)?\S+\s+(?:set\s+data\s+)?type\b/],
  ['requires a value where there was none', /\bset\s+not\s+null\b/],
  [
    'adds a column that the release before does not fill',
    /\badd\s+(?!constraint\b)(?!.*\b(?:default|generated)\b).*\bnot\s+null\b/,
  ],
  [
    'adds a rule that the release before does not know',
    /\badd\s+(?:constraint|check|unique|primary|foreign|exclude)\b/,
  ],
  ['adds a rule that the release before does not know', /\bcreate\s+unique\s+index\b/],
  ['takes rights away', /^revoke\b/],
  ['takes rows away', /^(?:truncate|delete)\b/],
]

/**
 * Statements that narrow what was there: after "expand" only the next release may "contract". Tables and
 * functions that these statements themselves create are nobody's yet, so anything may be done to them.
 * @returns what is wrong and the statement, in order; empty when the release before can go on
 */
export function narrowingStatements(statements: readonly string[]): string[] {
  const all = statements.flatMap(statementsOf)
  const own = [...createdTables(all), ...createdFunctions(all)]
  const found: string[] = []
  for (const statement of all) {
    if (/^create\s+(?:table|function)\b/.test(statement) || own.some((table) => mentions(statement, table))) continue
    // Each action of an ALTER TABLE is judged by itself: another one's default does not excuse it.
    const actions = /^alter\s+table\b/.test(statement) ? splitActions(statement) : [statement]
    for (const action of actions) {
      for (const [what, pattern] of contractions) {
        if (pattern.test(action)) found.push(`${what}: ${statement}`)
      }
    }
  }
  return found
}

/** The tables that statements themselves create. */
export const createdTables = (statements: readonly string[]): string[] =>
  statements.flatMap((statement) => /^create\s+table\s+(?:if\s+not\s+exists\s+)?(\S+)/.exec(statement)?.[1] ?? [])

const createdFunctions = (statements: readonly string[]): string[] =>
  statements.flatMap((statement) => /^create\s+function\s+([^\s(]+)/.exec(statement)?.[1] ?? [])

/** Single statements in lower case, without comments and without what stands in literals and function bodies. */
export function statementsOf(sql: string): string[] {
  return sql
    .replaceAll(/--[^\n]*/g, '')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/(\$\w*\$)[\s\S]*?\1/g, "''")
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .toLowerCase()
    .split(';')
    .map((statement) => statement.replaceAll(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '')
}

/** At commas outside parentheses. */
function splitActions(statement: string): string[] {
  let depth = 0
  const actions = ['']
  for (const letter of statement) {
    if (letter === '(') depth += 1
    if (letter === ')') depth -= 1
    if (letter === ',' && depth === 0) actions.push('')
    else actions[actions.length - 1] += letter
  }
  return actions.map((action) => action.trim())
}

export const mentions = (statement: string, table: string) => statement.split(/[\s(),]+/).includes(table)
