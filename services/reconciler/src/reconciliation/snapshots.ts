import { setTimeout as wait } from 'node:timers/promises'
import { noVault } from '@backoffice/database/vault'
import { patiently } from '@backoffice/process'
import { type Database, type ReadDb, readOver } from '@backoffice/service-runtime'
import { Client } from 'pg'

/** A handle that sees one moment. */
export interface Snapshot extends ReadDb {
  /** Makes it usable again after a statement has failed. It still sees the same moment. */
  rewind(): Promise<void>
  /** Runs a statement about ranges of keys, which PostgreSQL may bring together in their order. */
  merging<T>(statement: () => Promise<T>): Promise<T>
}

const connectionTimeoutMs = 10_000
const keepAliveAfterMs = 30_000
/** PostgreSQL ends a transaction whose process says nothing for so long. */
const idleMsMax = 60_000

/**
 * Snapshots of the database, one after another over one connection. Each is short: a migration waits for the locks of the
 * one that is open, and a vacuum keeps the rows that it may see.
 */
export class Snapshots {
  readonly #client: Client
  readonly #begin: string
  /** Another connection to the same place. */
  readonly another: () => Promise<Snapshots>

  private constructor(client: Client, begin: string, another: () => Promise<Snapshots>) {
    this.#client = client
    this.#begin = begin
    this.another = another
  }

  /**
   * @param url of a role that only reads. A standby will do: nothing is written over this connection.
   * @param statementMsMax PostgreSQL ends a statement that takes longer
   */
  static async connect(
    url: string,
    options: { readonly statementMsMax: number; readonly signal: AbortSignal },
  ): Promise<Snapshots> {
    const { statementMsMax, signal } = options
    const client = new Client({
      connectionString: url,
      application_name: 'reconciler',
      connectionTimeoutMillis: patiently(connectionTimeoutMs),
      // A statement may be silent for long. If PostgreSQL's machine is lost, nothing else tells.
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveAfterMs,
    })
    // The query under way gets the error. Without this listener it would also end the process.
    client.on('error', () => {})
    const abort = () => void client.end()
    signal.addEventListener('abort', abort)
    client.on('end', () => signal.removeEventListener('abort', abort))
    await client.connect()
    return new Snapshots(client, beginning(statementMsMax), () => Snapshots.connect(url, options))
  }

  /** Runs statements that see one moment. */
  async see<T>(run: (db: Snapshot) => Promise<T>): Promise<T> {
    const client = this.#client
    await client.query(this.#begin)
    const rewind = async () => void (await client.query('rollback to savepoint begun'))
    const merging = async <T>(statement: () => Promise<T>) => {
      await client.query('set local enable_mergejoin = on')
      const rows = await statement()
      await client.query('set local enable_mergejoin = off')
      return rows
    }
    const result = await run(Object.assign(readOver(client, noVault), { rewind, merging }))
    await client.query('commit')
    return result
  }

  close(): Promise<void> {
    return this.#client.end()
  }
}

/** Settings of the transaction, not of the connection: a pooler between would not know those. */
function beginning(statementMsMax: number): string {
  const settings = {
    statement_timeout: statementMsMax,
    idle_in_transaction_session_timeout: idleMsMax,
    // Each query is planned for its own keys. They are few, and an index finds each of them. To read a table from end to
    // end, or to hash it, looks cheaper to the planner as long as the table is small, and is not when it has grown.
    plan_cache_mode: 'force_custom_plan',
    enable_seqscan: 'off',
    enable_hashjoin: 'off',
    enable_mergejoin: 'off',
    jit: 'off',
  }
  return [
    'begin isolation level repeatable read read only',
    ...Object.entries(settings).map(([name, value]) => `set local ${name} = ${value}`),
    // To come back to when a statement fails. It begins the snapshot no sooner and keeps it no longer.
    'savepoint begun',
  ].join('; ')
}

/** How long a standby may take to reach the moment at which the run begins. */
const standbyBehindMsMax = 60_000
const standbyLookEveryMs = 200

/**
 * Waits until snapshots, which may be of a standby, have reached the present.
 * @returns when that was, by PostgreSQL's clock
 */
export async function reachPresent(snapshots: Snapshots, db: Database, signal: AbortSignal): Promise<Date> {
  const [now] = await db<{ at: Date; position: string }>`
    select now() as at, pg_current_wal_lsn()::text as position
  `
  if (now === undefined) throw new Error('PostgreSQL does not say what time it is')
  const until = performance.now() + standbyBehindMsMax
  while (!(await snapshots.see((read) => hasReached(read, now.position)))) {
    if (performance.now() > until) throw new Error('The standby is too far behind to reconcile.')
    signal.throwIfAborted()
    await wait(standbyLookEveryMs)
  }
  return now.at
}

async function hasReached(db: ReadDb, position: string): Promise<boolean> {
  const [row] = await db<{ reached: boolean }>`
    select not pg_is_in_recovery() or pg_last_wal_replay_lsn() >= ${position}::text::pg_lsn as reached
  `
  return row?.reached === true
}
