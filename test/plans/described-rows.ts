import pg from 'pg'
import { type Catalogue, Nullability, targetsOf } from './nullability.ts'
import { inItsSchema } from './plan.ts'
import { Node, parseTree } from './query-tree.ts'

/** A column of the rows that a statement gives. */
export interface DescribedColumn {
  readonly name: string
  readonly type: string
  readonly mayBeNull: boolean
}

/** Asks PostgreSQL what the rows of statements are, without running them. */
export class Describer {
  readonly #client: pg.Client
  readonly #nullability: Nullability
  #trees: string[] = []

  private constructor(client: pg.Client, catalogue: Catalogue) {
    this.#client = client
    this.#nullability = new Nullability(catalogue)
  }

  static async connect(databaseUrl: string): Promise<Describer> {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    const describer = new Describer(client, await readCatalogue(client))
    client.on('notice', ({ message, detail }) => {
      if (message === 'parse tree:') describer.#trees.push(detail ?? '')
    })
    await client.query('set debug_pretty_print = off')
    return describer
  }

  close(): Promise<void> {
    return this.#client.end()
  }

  /** The rows of a statement in the first of the schemas that have what it names. */
  describe(text: string, schemas: readonly string[]): Promise<DescribedColumn[]> {
    return inItsSchema(this.#client, schemas, () => this.#describe(text))
  }

  async #describe(text: string): Promise<DescribedColumn[]> {
    this.#trees = []
    // PostgreSQL sends the tree of what it prepares as a message to the client.
    await this.#client.query('set client_min_messages = log; set debug_print_parse = on')
    try {
      await this.#client.query(`prepare described as ${text}`)
    } finally {
      await this.#client.query('set debug_print_parse = off; reset client_min_messages')
    }
    const { rows } = await this.#client.query(
      `select result_types::text[] as types from pg_prepared_statements where name = 'described'`,
    )
    await this.#client.query('deallocate described')
    const query = this.#trees.map(parseTree).find((tree) => tree instanceof Node && tree.value('commandType') !== '6')
    return targetsOf(query as Node).map((target, index) => ({
      name: target.value('resname'),
      type: rows[0].types[index],
      mayBeNull: this.#nullability.ofColumn(query as Node, target.number('resno')),
    }))
  }
}

async function readCatalogue(client: pg.Client): Promise<Catalogue> {
  const columns = await client.query(`select attrelid || '.' || attnum as key from pg_attribute where attnotnull`)
  const functions = await client.query('select oid::text, proname, proisstrict from pg_proc')
  const views = await client.query(
    `select ev_class::text, ev_action::text from pg_rewrite where rulename = '_RETURN' and ev_class >= 16384`,
  )
  return {
    notNull: new Set(columns.rows.map(({ key }) => key)),
    functions: new Map(functions.rows.map((row) => [row.oid, { name: row.proname, isStrict: row.proisstrict }])),
    views: new Map(views.rows.map((row) => [row.ev_class, (parseTree(row.ev_action) as Node[])[0] as Node])),
  }
}
