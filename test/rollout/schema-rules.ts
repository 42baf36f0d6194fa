import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { json, text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { ServiceName } from '@backoffice/contracts'
import type { Migration } from '@backoffice/service-runtime'
import { type Teardown, temporaryFolder } from '@backoffice/test-kit'
import { linkDependencies } from '../structure/working-copy.ts'

/** What a migration does that the release before it may not survive. */
const narrowings: readonly (readonly [what: string, pattern: RegExp])[] = [
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
 * Statements that narrow what was there: after "expand" only the next release may "contract". Tables,
 * views and functions that these statements themselves create are nobody's yet, so anything may be done to them.
 * @returns what is wrong and the statement, in order; empty when the release before can go on
 */
export function narrowingStatements(statements: readonly string[]): string[] {
  const all = statements.flatMap(statementsOf)
  const own = all.flatMap(
    (statement) => /^create (?:table (?:if not exists )?|view |function )([^\s(]+)/.exec(statement)?.[1] ?? [],
  )
  const found: string[] = []
  for (const statement of all) {
    if (/^create (?:table|view|function)\b/.test(statement) || own.some((table) => mentions(statement, table))) continue
    // Each action of an ALTER TABLE is judged by itself: another one's default does not excuse it.
    const actions = /^alter\s+table\b/.test(statement) ? splitActions(statement) : [statement]
    for (const action of actions) {
      for (const [what, pattern] of narrowings) {
        if (pattern.test(action)) found.push(`${what}: ${statement}`)
      }
    }
  }
  return found
}

/** The tables that statements themselves create. */
const createdTables = (statements: readonly string[]): string[] =>
  statements.flatMap((statement) => /^create\s+table\s+(?:if\s+not\s+exists\s+)?(\S+)/.exec(statement)?.[1] ?? [])

/** Single statements in lower case, without comments and without what stands in literals and function bodies. */
function statementsOf(sql: string): string[] {
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

const mentions = (statement: string, table: string) => statement.split(/[\s(),]+/).includes(table)

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

const root = fileURLToPath(new URL('../../', import.meta.url))

interface ReleaseRecord {
  /** It begins at a commit whose services ask JetStream for no stream: nobody runs an older one, and each from then on is held to it. */
  readonly release: {
    readonly version: string
    /** Of this repository. It counts where no `v…` tag below HEAD says which commit it is. */
    readonly commit: string
    /** What the release's own migrations are, by service. */
    readonly migrations: Readonly<Record<ServiceName, readonly string[]>>
  }
  /** Migrations that narrow, as `service/name`, with the reason why that release does not use what they take away. */
  readonly contractions: Readonly<Record<string, string>>
  /** Migrations that hold up who uses a table, as `service/name`, with the reason why it is for a moment only. */
  readonly locks: Readonly<Record<string, string>>
}

/** The release that is in service while this one is rolled out. Written anew with each release. */
export const { release, contractions, locks }: ReleaseRecord = JSON.parse(
  readFileSync(new URL('./previous-release.json', import.meta.url), 'utf8'),
)

function git(...args: string[]): string {
  return execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
}

function quietly(...args: string[]): string | null {
  try {
    return git(...args)
  } catch {
    return null
  }
}

/** The latest release tag below HEAD, else the recorded commit; null where the history is not here to take it from. */
function previousRevision(): string | null {
  // An exported tree may lie inside somebody else's repository: its history is not ours.
  if (quietly('rev-parse', '--show-prefix') !== '') return null
  const revision = quietly('describe', '--tags', '--match', 'v[0-9]*', '--abbrev=0', 'HEAD^') ?? release.commit
  return quietly('cat-file', '-e', `${revision}^{commit}`) === null ? null : revision
}

/** Why its source cannot be had, or false: a shallow clone, an export or a rewritten history does not have it. */
export function historyIsMissing(): string | false {
  return previousRevision() === null ? `the source of release ${release.version} is not in this clone` : false
}

/**
 * The release's source in a folder of its own, which ends with `t`: its own packages, and the installed dependencies of
 * this checkout.
 * @returns the folder, with a slash at its end
 */
export function extractPreviousRelease(t: Teardown): string {
  const revision = previousRevision()
  if (revision === null) throw new Error('there is no previous release to extract')
  const dir = temporaryFolder(t)
  const archive = execFileSync('git', ['-C', root, 'archive', revision, 'package.json', 'packages', 'services'], {
    maxBuffer: 256 * 1024 * 1024,
  })
  execFileSync('tar', ['-x', '-C', dir], { input: archive })
  const workspaces = globSync('{packages,services,local}/*/package.json', { cwd: dir }).map((path) => dirname(path))
  linkDependencies(dir, workspaces)
  return `${dir}/`
}
