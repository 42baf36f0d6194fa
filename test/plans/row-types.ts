import type { DeclaredField, SourceTemplate } from './declared-rows.ts'
import type { DescribedColumn } from './described-rows.ts'

/** Fields that are never null for a reason that PostgreSQL does not know, or that only a condition says. */
const neverNull: readonly (readonly [file: string, fields: readonly string[], reason: string])[] = [
  ['packages/service-runtime/src/database/prepared.ts', ['name', 'setting'], 'each setting has both'],
  ['packages/service-runtime/src/outbox/stream-watch.ts', ['publishedAt', 'id'], 'the columns of the table behind it'],
  ['packages/service-runtime/src/outbox/store.ts', ['operationId'], 'the conditions ask for rows that have one'],
  ['packages/team-desk/src/player-rows.ts', ['key', 'values'], 'every table has a key and columns'],
  ['packages/team-desk/src/two-people.ts', ['proposedById'], 'it is written with each proposal'],
  ['services/games/src/storage/demonstrations.ts', ['balance'], 'a session with a token has a balance'],
  ['services/payments/src/deposits/records.ts', ['dayTotal'], 'the sum of a day is written together with the day'],
  ['services/players/src/kyc/records.ts', ['template'], 'its condition'],
  [
    'services/reconciler/src/reconciliation/account-rows.ts',
    ['playerId', 'seq', 'balance', 'hash'],
    'players alone have accounts with an owner, and entries with a number; what has a number has the rest',
  ],
  ['services/reconciler/src/reconciliation/check.ts', ['explanation'], 'the conditions of a check, which explain'],
  ['services/reconciler/src/reconciliation/elsewhere.ts', ['latest'], 'its condition'],
  ['services/reconciler/src/reconciliation/player-status-checks.ts', ['auditId'], 'its condition'],
  ['services/reconciler/src/reconciliation/players-checks.ts', ['accountId'], 'its condition'],
  [
    'services/reconciler/src/reconciliation/right-chains.ts',
    ['total', 'balance', 'hash'],
    'its condition, which is of one entry at least',
  ],
  ['services/reconciler/src/storage/heads.ts', ['playerId'], 'its condition'],
  ['services/reconciler/src/storage/reconciliations.ts', ['differencesOf'], 'a run that is done has a report'],
  ['services/wallet/src/ledger/records.ts', ['playerId', 'reverses'], 'the conditions, which look for these'],
  ['services/webhooks/src/deliveries/operations.ts', ['at'], 'what is delivered has ended'],
  [
    'services/wallet/src/statement/records.ts',
    ['playerId', 'seq', 'balance'],
    'the condition: entries with a number are those of players',
  ],
]

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
const kindOf = (type: string): string => type.replace(/^[^[]*/, (name) => kinds[name] ?? `unknown to this test`)
const isJson = (type: string): boolean => /^jsonb?$/.test(type)

/** How a column is called in a row. */
const fieldOf = (name: string) => name.replaceAll(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())

/**
 * What is wrong with the rows that a template declares, by the columns of a statement: a field that it does not give, one
 * of another type, and one that may be null and is not declared so. What JSON holds is not known to PostgreSQL.
 */
export function faultsIn({ place, fields }: SourceTemplate, columns: readonly DescribedColumn[]): string[] {
  const given = new Map(columns.map((column) => [fieldOf(column.name), column]))
  return fields.flatMap((field) => {
    const fault = faultOf(field, given.get(field.name))
    return fault === null ? [] : [`${place}: ${field.name} is declared as ${field.kind}, and ${fault}`]
  })
}

function faultOf({ kind, mayBeNull, isOptional }: DeclaredField, column: DescribedColumn | undefined): string | null {
  if (column === undefined) return isOptional ? null : 'the statement does not give it'
  const { type } = column
  if (!isJson(type) && kind !== 'unknown' && kind !== kindOf(type)) return `is ${kindOf(type)} (${type})`
  return column.mayBeNull && !mayBeNull ? `may be null (${type})` : null
}

/** The faults without a reason, and the reasons without a fault. */
export function withReasons(faults: readonly string[]): { wrong: string[]; needless: string[] } {
  const excuses = neverNull.flatMap(([file, fields]) => fields.map((field) => ({ file, field })))
  const excuse = ({ file, field }: (typeof excuses)[number], fault: string) =>
    fault.startsWith(`${file}:`) && fault.includes(`: ${field} is `) && fault.includes('may be null')
  return {
    wrong: faults.filter((fault) => !excuses.some((one) => excuse(one, fault))),
    needless: excuses
      .filter((one) => !faults.some((fault) => excuse(one, fault)))
      .map(({ file, field }) => `${file}: ${field}`),
  }
}
