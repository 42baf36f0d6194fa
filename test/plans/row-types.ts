import type { DeclaredField, SourceTemplate } from './declared-rows.ts'
import type { DescribedColumn } from './described-rows.ts'

/** Columns that are never null for a reason that PostgreSQL does not know. */
const neverNull: readonly { readonly file: string; readonly field: string; readonly reason: string }[] = [
  {
    file: 'packages/team-desk/src/two-people.ts',
    field: 'proposedById',
    reason: 'the account of who proposes is written with each proposal',
  },
  { file: 'packages/team-desk/src/player-rows.ts', field: 'values', reason: 'every table has columns' },
  {
    file: 'services/games/src/storage/demonstrations.ts',
    field: 'balance',
    reason: 'a session with a token is a demonstration, which has a balance',
  },
  {
    file: 'services/payments/src/deposits/records.ts',
    field: 'dayTotal',
    reason: 'the sum of a day is written together with the day',
  },
  {
    file: 'services/reconciler/src/reconciliation/account-check.ts',
    field: 'playerId',
    reason: "a constraint of the wallet's accounts: those of players have an owner",
  },
  {
    file: 'services/reconciler/src/storage/reconciliations.ts',
    field: 'differencesOf',
    reason: 'a run that is done has a report, and every report has them',
  },
  {
    file: 'services/wallet/src/statement/records.ts',
    field: 'playerId',
    reason: 'entries with a number are those of players',
  },
]

/** Files whose statements name their columns when they run, with rows that may hold anything. */
export const openRows: readonly { readonly file: string; readonly reason: string }[] = [
  {
    file: 'packages/service-runtime/src/database/sealed-tables.ts',
    reason: 'each table says which of its columns are sealed, and types its own rows',
  },
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
export function withReasons(faults: readonly string[]): { wrong: string[]; needless: unknown[] } {
  const excuses = ({ file, field }: (typeof neverNull)[number], fault: string) =>
    fault.startsWith(`${file}:`) && fault.includes(`: ${field} is `) && fault.includes('may be null')
  return {
    wrong: faults.filter((fault) => !neverNull.some((one) => excuses(one, fault))),
    needless: neverNull.filter((one) => !faults.some((fault) => excuses(one, fault))),
  }
}
