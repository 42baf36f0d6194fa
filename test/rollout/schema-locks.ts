import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { json, text } from 'node:stream/consumers'
import type { Migration } from '@backoffice/service-runtime/migrations'
import { createdTables, mentions, statementsOf } from './schema-changes.ts'

/** The program itself: its launcher would start one Node more for each migration. */
const squawk: string = createRequire(import.meta.url)('squawk-cli/js/index.js').getBinaryPath()
/** The oldest one that the system runs on. */
const postgresVersion = '15'

/** What Squawk knows and is not about locks, or is somebody else's task. */
const otherRules: readonly string[] = [
  // `migrate` sets both.
  'require-lock-timeout',
  'require-statement-timeout',
  // A migration is one transaction and is recorded in it.
  'prefer-robust-stmts',
  // `narrowingStatements` finds these.
  'ban-drop-column',
  'ban-drop-database',
  'ban-drop-not-null',
  'ban-drop-table',
  'renaming-column',
  'renaming-table',
  // Matters of taste.
  'ban-char-field',
  'prefer-bigint-over-int',
  'prefer-bigint-over-smallint',
  'prefer-text-field',
  'prefer-timestamp-tz',
]

/** What Squawk does not know. */
const ownRules: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['locks a table for as long as the transaction takes', /^lock\b/],
  ['writes the table anew', /^(?:cluster|vacuum)\b|^alter table\b.*\bset (?:(?:un)?logged|tablespace)\b/],
  ['reads everything while others wait', /^refresh materialized view (?!concurrently\b)/],
  ['reads the rows of a partition while others wait', /^alter table\b.*\battach partition\b/],
  ['changes rows, and keeps them locked until the transaction ends', /^(?:update|delete|merge)\b|^with\b/],
]
const ownRulesInTransaction: typeof ownRules = [
  [
    'takes long in a transaction: make it a migration that is not transactional',
    /\b(?:concurrently|validate constraint)\b/,
  ],
]

interface Finding {
  readonly rule_name: string
  readonly message: string
}

/**
 * Statements that hold up who reads or writes a table, for longer than a moment. Tables that the migration itself creates
 * are nobody's yet.
 * @returns what is wrong; empty when nobody waits
 */
export async function lockingStatements({
  sql,
  transactional = true,
}: Pick<Migration, 'sql'> & { readonly transactional?: boolean | undefined }): Promise<string[]> {
  const statements = statementsOf(sql)
  const own = createdTables(statements)
  const rules = transactional ? [...ownRules, ...ownRulesInTransaction] : ownRules
  const found = statements
    .filter((statement) => !own.some((table) => mentions(statement, table)))
    .flatMap((statement) => rules.filter(([, rule]) => rule.test(statement)).map(([what]) => `${what}: ${statement}`))
  const findings = await askSquawk(sql, transactional ? ['--assume-in-transaction'] : [])
  return [...found, ...findings.map(({ rule_name: rule, message }) => `${rule}: ${message}`)]
}

async function askSquawk(sql: string, options: readonly string[]): Promise<readonly Finding[]> {
  const settings = ['--reporter=json', `--pg-version=${postgresVersion}`, `--exclude=${otherRules.join(',')}`]
  const child = spawn(squawk, [...settings, ...options], { stdio: 'pipe' })
  child.stdin.end(sql)
  const [findings, errors, [status]] = await Promise.all([json(child.stdout), text(child.stderr), once(child, 'close')])
  // 1 says that there are findings.
  if (status > 1 || errors !== '') throw new Error(`squawk ended with ${status}: ${errors}`)
  return findings as readonly Finding[]
}
