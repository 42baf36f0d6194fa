import pg from 'pg'

/** A node of a plan, as EXPLAIN writes it in JSON. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly Schema?: string
  readonly 'Relation Name'?: string
  readonly Alias?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Recheck Cond'?: string
  readonly 'Plan Rows': number
  readonly 'Total Cost': number
  readonly Filter?: string
  readonly 'Join Filter'?: string
  readonly Plans?: readonly PlanNode[]
}

/** A table is large from so many rows on: to read all of a smaller one is nothing. */
const rowsOfLargeTable = 10_000
/** What it costs to look at some hundred rows, in PostgreSQL's unit. */
const costOfFewRows = 500

/** What PostgreSQL's catalogue says of tables and indexes. */
interface Indexed {
  /** As `schema.table`. */
  readonly largeTables: ReadonlySet<string>
  /** The first column of each index, by `schema.index`. */
  readonly firstColumns: ReadonlyMap<string, string>
  /** The columns of each key, as `schema.index`, by `schema.table`. */
  readonly keys: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>
}

/** How PostgreSQL runs statements that it plans once for all values. */
export class Planner {
  readonly #client: pg.Client
  readonly #indexed: Indexed

  private constructor(client: pg.Client, indexed: Indexed) {
    this.#client = client
    this.#indexed = indexed
  }

  /** @param settings of the sessions that send the statements */
  static async connect(databaseUrl: string): Promise<Planner> {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    const tables = await client.query(
      `select relnamespace::regnamespace || '.' || relname as name from pg_class where relkind = 'r' and reltuples >= $1`,
      [rowsOfLargeTable],
    )
    const indexes = await client.query(
      `select relnamespace::regnamespace || '.' || relname as name, attname as first
      from pg_class join pg_attribute on attrelid = pg_class.oid and attnum = 1 where relkind = 'i'`,
    )
    const keys = await client.query<{ table: string; name: string; columns: string[] }>(
      `select relnamespace::regnamespace || '.' || relname as table, indexrelid::regclass::text as name,
        array(select attname::text from pg_attribute where attrelid = indexrelid order by attnum) as columns
      from pg_index join pg_class on pg_class.oid = indrelid
      where indisunique and indpred is null and indexprs is null and relkind = 'r'`,
    )
    return new Planner(client, {
      largeTables: new Set(tables.rows.map(({ name }) => name)),
      firstColumns: new Map(indexes.rows.map(({ name, first }) => [name, first])),
      keys: new Map(
        [...Map.groupBy(keys.rows, ({ table }) => table)].map(([table, rows]) => [
          table,
          new Map(rows.map(({ name, columns }) => [name, columns])),
        ]),
      ),
    })
  }

  close(): Promise<void> {
    return this.#client.end()
  }

  /** The plan of a statement in the first of the schemas that have what it names. */
  planOf(text: string, schemas: readonly string[]): Promise<PlanNode> {
    return inItsSchema(this.#client, schemas, async () => {
      const { rows } = await this.#client.query(`explain (generic_plan, verbose, format json) ${text}`)
      return rows[0]['QUERY PLAN'][0].Plan
    })
  }

  /** What of a plan reads more of large tables than it needs. */
  wasteIn(node: PlanNode, above: readonly PlanNode[] = []): string[] {
    const below = (node.Plans ?? []).flatMap((child) => this.wasteIn(child, [node, ...above]))
    const waste = this.#wasteOf(node, above)
    return waste === null ? below : [waste, ...below]
  }

  /** Which large tables a plan reads without an index. */
  tablesReadIn(node: PlanNode): string[] {
    const below = (node.Plans ?? []).flatMap((child) => this.tablesReadIn(child))
    return node['Node Type'] === 'Seq Scan' && this.#isLarge(node)
      ? [`reads all of ${node['Relation Name']}`, ...below]
      : below
  }

  /** Where a plan is given the columns of a key and reads one of our tables by another index. */
  missedKeysIn(node: PlanNode): string[] {
    const { Plans: plans = [], Schema: schema, 'Relation Name': table, Alias: alias } = node
    const below = plans.flatMap((child) => this.missedKeysIn(child))
    const used = node['Index Name'] ?? plans[0]?.['Index Name']
    if (table === undefined || used === undefined || schema === 'pg_catalog') return below
    const conditions = [node['Index Cond'], node['Recheck Cond'], node.Filter].join(' AND ').split(' AND ')
    const isGiven = (column: string) =>
      conditions.some((one) => one.includes(`(${alias}.${column} = `) && !/\bNOT\b|ANY/.test(one))
    const given = [...(this.#indexed.keys.get(`${schema}.${table}`) ?? [])].filter(([, columns]) =>
      columns.every(isGiven),
    )
    if (given.length === 0 || given.some(([name]) => name === `${schema}.${used}`)) return below
    return [`looks for a key of ${table} in ${used}`, ...below]
  }

  #wasteOf(node: PlanNode, above: readonly PlanNode[]): string | null {
    const {
      'Node Type': type,
      'Index Name': index,
      Filter: filter,
      'Join Filter': joinFilter,
      Plans: below = [],
    } = node
    if (type === 'Sort' && below.some((child) => child['Plan Rows'] >= rowsOfLargeTable)) return 'sorts a table'
    if (joinFilter !== undefined && below.some((child) => this.#isLarge(child) && isCostly(child)))
      return `filters what it joins: ${joinFilter}`
    // A bitmap's index does not name its table; who reads the bitmap does.
    const read = type === 'Bitmap Index Scan' ? above.find((one) => one['Relation Name'] !== undefined) : node
    if (read === undefined || !this.#isLarge(read)) return null
    const { Schema: schema, 'Relation Name': table, Alias: alias } = read
    if (type === 'Seq Scan') return `reads all of ${table}`
    if (index !== undefined && !isFirstRows(node, above)) {
      const first = `${alias}.${this.#indexed.firstColumns.get(`${schema}.${index}`)}`
      if (!restricts(node['Index Cond'] ?? '', first)) return `reads all of ${index}`
    }
    return filter !== undefined && isCostly(node) ? `filters ${table}: ${filter}` : null
  }

  #isLarge({ Schema: schema, 'Relation Name': table }: PlanNode): boolean {
    return this.#indexed.largeTables.has(`${schema}.${table}`)
  }
}

const isCostly = (node: PlanNode): boolean => node['Total Cost'] >= costOfFewRows

/** A limit ends a scan that leaves nothing out after so many rows, also where scans of partitions are merged. */
const isFirstRows = ({ Filter: filter }: PlanNode, above: readonly PlanNode[]) =>
  filter === undefined &&
  above.find((node) => !/(Append|Incremental Sort)$/.test(node['Node Type']))?.['Node Type'] === 'Limit'

/**
 * Whether the first column of an index is compared with a value, with the statement's time or with another row: only then
 * part of it is read.
 */
function restricts(condition: string, firstColumn: string): boolean {
  const alias = firstColumn.split('.')[0]
  return condition.split(' AND ').some((clause) => {
    const compared = [...clause.matchAll(/\$\d+|Plan \d+|(?:statement_timestamp|now)\(\)|\b(\w+)\.\w+/g)].some(
      ([, other]) => other !== alias,
    )
    return clause.includes(firstColumn) && compared
  })
}

/** PostgreSQL's codes for tables and columns that it does not know. */
const unknownNames: ReadonlySet<string> = new Set(['42P01', '42703'])

/** Asks in the first of the schemas that have what a statement names. */
export async function inItsSchema<T>(client: pg.Client, schemas: readonly string[], ask: () => Promise<T>): Promise<T> {
  for (const schema of schemas) {
    await client.query(`set search_path = ${schema}`)
    try {
      return await ask()
    } catch (error) {
      if (!unknownNames.has((error as { code: string }).code)) throw error
    }
  }
  throw new Error('a statement of no schema')
}
