import { type DatabaseRole, roleName, type ServiceName } from '@backoffice/contracts'
import type { Logger } from '@backoffice/process'
import { readerOf } from '@backoffice/service-runtime'
import { type Client, escapeLiteral as literal, escapeIdentifier as quote } from 'pg'
import { limits, untilUnlocked } from './migrate.ts'
import { connectOnce } from './provision.ts'

/** A database, as its administrator, and the services whose schemas it has. */
export interface Home {
  readonly url: string
  readonly services: readonly ServiceName[]
}

interface Options {
  readonly log?: Logger | undefined
  /** On the machines of PostgreSQL: with what one verifies the other, where connections are TLS. */
  readonly caFile?: string | undefined
}

/** A column that roles of another database see. */
interface ShownColumn {
  readonly schema: string
  readonly table: string
  readonly column: string
  readonly type: string
  readonly readers: readonly string[]
}

/**
 * What a role sees of a schema that lives in another database, it sees there under the same name: migrations grant it, and
 * postgres_fdw reads it with the same role. So a service looks up sessions that were ended, and the reconciler reads
 * records, as if all were one database. It is made anew on each run, from what is granted by then.
 */
export async function linkDatabases(
  homes: readonly Home[],
  passwords: Readonly<Record<DatabaseRole, string>>,
  { log, caFile }: Options = {},
): Promise<void> {
  for (const home of homes) {
    const readers = readersIn(home)
    const others = homes.filter((other) => other !== home)
    const links: string[] = []
    for (const other of others) {
      const shown = await connectOnce(other.url, (client) => show(client, other, readers))
      if (shown.length > 0) links.push(...linkTo(other, { shown, readers, passwords, caFile }))
    }
    await connectOnce(home.url, async (client) => {
      if (links.length > 0) await assertOrder(client)
      await untilUnlocked(
        () => replaceLinks(client, links),
        (err, attempt) =>
          log?.warn({ attempt, err }, 'linking the databases waits for a lock that somebody holds; it is tried again'),
      )
    })
  }
}

/** Roles that connect to a database, and see there what lives elsewhere. */
const readersIn = ({ services }: Home): readonly DatabaseRole[] => [
  ...services.filter((service) => service !== 'reconciler' || services.includes('wallet')),
  ...(services.includes('players') ? (['games'] as const) : []),
]

/** What a database shows to roles that live elsewhere. They may connect to it, and have the rights that migrations gave them. */
async function show(client: Client, { services }: Home, readers: readonly DatabaseRole[]): Promise<ShownColumn[]> {
  const schemas = services.filter((service) => service !== 'reconciler')
  const { rows } = await client.query<ShownColumn>(
    `select * from (
       select n.nspname as schema, c.relname as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type,
         array(select reader from unnest($2::text[]) reader
           where has_schema_privilege(reader, n.oid, 'usage') and has_column_privilege(reader, c.oid, a.attnum, 'select')
         ) as readers
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       where n.nspname = any($1) and c.relkind in ('r', 'p', 'v') and not c.relispartition
       order by n.nspname, c.relname, a.attnum
     ) shown where readers <> '{}'`,
    [schemas, readers.map(roleName)],
  )
  const database = (await client.query<{ name: string }>('select current_database() as name')).rows[0]?.name ?? ''
  const connecting = new Set(rows.flatMap((row) => row.readers))
  for (const role of connecting) await client.query(`grant connect on database ${quote(database)} to ${quote(role)}`)
  return rows
}

interface Link {
  readonly shown: readonly ShownColumn[]
  readonly readers: readonly DatabaseRole[]
  readonly passwords: Readonly<Record<DatabaseRole, string>>
  readonly caFile: string | undefined
}

const linkPrefix = 'at_'

/** The statements that show it. The server is named after the first service that lives there. */
function linkTo({ url, services }: Home, { shown, readers, passwords, caFile }: Link): string[] {
  const server = `${linkPrefix}${services[0]}`
  const statements = [
    'create extension if not exists postgres_fdw',
    `create server ${server} foreign data wrapper postgres_fdw options (${optionsOf(serverOptions(url, caFile))})`,
  ]
  for (const reader of readers.filter((role) => shown.some((column) => column.readers.includes(roleName(role)))))
    for (const user of reader === 'games' ? [roleName(reader)] : [roleName(reader), readerOf(roleName(reader))])
      statements.push(
        `create user mapping for ${quote(user)} server ${server} options (${optionsOf({ user, password: passwords[reader] })})`,
      )
  for (const [schema, columns] of Map.groupBy(shown, (column) => column.schema)) {
    const users = [...new Set(columns.flatMap((column) => column.readers))]
    statements.push(
      `create schema if not exists ${quote(schema)}`,
      `grant usage on schema ${quote(schema)} to ${users.map(quote).join(', ')}`,
      ...[...Map.groupBy(columns, ({ table }) => table)].flatMap(([table, of]) =>
        foreignTable({ server, schema, table }, of),
      ),
    )
  }
  return readers.includes('reconciler') ? [...statements, ...momentsAt(server)] : statements
}

function foreignTable(
  { server, schema, table }: { readonly server: string; readonly schema: string; readonly table: string },
  columns: readonly ShownColumn[],
): string[] {
  const name = `${quote(schema)}.${quote(table)}`
  // Without a collation: postgres_fdw sends no comparison with a value of another one than the database's.
  const definitions = columns.map(({ column, type }) => `${quote(column)} ${type}`)
  const readers = [...new Set(columns.flatMap((column) => column.readers))]
  return [
    `create foreign table ${name} (${definitions.join(', ')}) server ${server}`,
    ...readers.map((reader) => {
      const seen = columns.filter((column) => column.readers.includes(reader)).map(({ column }) => quote(column))
      return `grant select (${seen.join(', ')}) on ${name} to ${quote(reader)}`
    }),
  ]
}

/** The moments of the other database. PostgreSQL there says when they are, so one is written by its run alone. */
function momentsAt(server: string): string[] {
  const [schema, reconciler] = [server, quote(roleName('reconciler'))]
  const options = "options (schema_name 'reconciler', table_name 'moment')"
  return [
    `create schema if not exists ${schema}`,
    `grant usage on schema ${schema} to ${reconciler}`,
    `create foreign table ${schema}.moment (xid xid8, at timestamptz, run_id text) server ${server} ${options}`,
    `grant select on ${schema}.moment to ${reconciler}`,
    `create foreign table ${schema}.next_moment (run_id text) server ${server} ${options}`,
    `grant insert on ${schema}.next_moment to ${reconciler}`,
  ]
}

/** Each row is looked up by an index there, as the planner knows only if it asks. A host that is lost is given up soon. */
function serverOptions(url: string, caFile = 'system'): Readonly<Record<string, string>> {
  const { hostname, port, pathname, searchParams } = new URL(url)
  const isVerified = searchParams.get('sslmode') === 'verify-full'
  return {
    ...{
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port || '5432',
      dbname: decodeURIComponent(pathname.slice(1)),
    },
    ...(isVerified ? { sslmode: 'verify-full', sslrootcert: caFile } : {}),
    ...{
      use_remote_estimate: 'true',
      fdw_startup_cost: '1',
      fetch_size: '1000',
      connect_timeout: '5',
      tcp_user_timeout: '30000',
    },
  }
}

const optionsOf = (options: Readonly<Record<string, string>>) =>
  Object.entries(options)
    .map(([name, value]) => `${name} ${literal(value)}`)
    .join(', ')

/** Ids are sorted by bytes where they are. Where they are shown, only a database that does so by itself has the same order. */
async function assertOrder(client: Client): Promise<void> {
  const { rows } = await client.query<{ database: string }>(
    `select current_database() as database from (values ('a', 'B'), ('a_b', 'aa'), ('_', 'a')) v (a, b)
     where (a < b) <> (a collate "C" < b collate "C") limit 1`,
  )
  if (rows[0] !== undefined)
    throw new Error(`${rows[0].database} sorts text by words; to be linked it needs the locale C`)
}

/** In one transaction: whoever reads meanwhile sees the links before or those after. */
async function replaceLinks(client: Client, links: readonly string[]): Promise<void> {
  await client.query('begin')
  try {
    await client.query(limits())
    const { rows } = await client.query<{ name: string }>(
      'select srvname as name from pg_foreign_server where starts_with(srvname, $1)',
      [linkPrefix],
    )
    for (const { name } of rows) await client.query(`drop server ${quote(name)} cascade`)
    for (const link of links) await client.query(link)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}
