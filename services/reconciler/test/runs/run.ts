import type { ReconciliationReport } from '@backoffice/contracts'
import { noVault } from '@backoffice/database/vault'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { newId } from '@backoffice/process'
import { connectDatabase } from '@backoffice/service-runtime/testing'
import { eventually, type Teardown, type TestBedOptions, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import type { Pool } from 'pg'
import pg from 'pg'
import { Ledger } from '../../../wallet/src/ledger/ledger.ts'
import { type ReconcileOptions, reconcile } from '../../src/reconciliation/reconcile.ts'
import { reconciler } from '../../src/service.ts'

interface Bed {
  environment(name: 'reconciler'): Readonly<Record<string, string>>
}

/** A bed of the two that know the ledger. */
export const ledgerBed = (t: Teardown, options: TestBedOptions = {}) => testBed(t, { wallet, reconciler }, options)

/** One run beside the service, which need not be there: a full one unless the options say otherwise. */
export async function runOf(
  bed: Bed,
  { url, ...options }: Partial<ReconcileOptions> & { readonly url?: string } = {},
): Promise<ReconciliationReport> {
  const { DATABASE_URL = '' } = bed.environment('reconciler')
  const db = await connectDatabase('reconciler', { DATABASE_URL, DATABASE_POOL_MAX: 1 }, { vault: noVault })
  try {
    return await reconcile(url ?? DATABASE_URL, db, {
      runId: newId('opn'),
      isFull: true,
      at: new Date(),
      progress: () => {},
      statementMsMax: 60_000,
      signal: new AbortController().signal,
      ...options,
    })
  } finally {
    await db.close()
  }
}

/** What somebody with the rights of an administrator, for whom no trigger speaks, could do behind the ledger's back. */
export async function behindItsBack(admin: Pool, statement: string, values: readonly unknown[]): Promise<void> {
  const client = await admin.connect()
  try {
    await client.query("set session_replication_role = 'replica'")
    const { rowCount } = await client.query(statement, [...values])
    if (rowCount === 0) throw new Error('nothing was changed')
  } finally {
    await client.query("set session_replication_role = 'origin'")
    client.release()
  }
}

const schemas = `'{wallet,payments,players,reconciler}'::text[]`

/** Connections of an administrator, and of the wallet. */
export interface Writer {
  readonly admin: pg.Pool
  readonly ledger: Ledger
}

/**
 * Waits until no transaction is open that had begun by now: also those of other tests on the same server. What they leave
 * open is looked at once more by the next run.
 */
export async function ended(admin: pg.Client | pg.Pool): Promise<void> {
  const { rows } = await admin.query('select pg_snapshot_xmax(pg_current_snapshot())::text as now')
  await eventually(
    async () =>
      (await admin.query('select pg_snapshot_xmin(pg_current_snapshot()) >= $1::text::xid8 as ended', [rows[0].now]))
        .rows[0].ended,
  )
}

/**
 * A database to which nobody is connected but the test, so that what is read there can be counted: PostgreSQL counts it
 * some time after it was read, at the latest when the connection ends.
 */
export async function quietDatabase(t: Teardown) {
  const quiet = await testBed(t, { players, wallet, payments, reconciler }, { startServices: false })
  const { DATABASE_URL = '' } = quiet.environment('wallet')
  const counter = new pg.Client({ connectionString: quiet.databaseUrl })
  await counter.connect()
  t.teardown(() => counter.end())
  // A vacuum would be counted too.
  await counter.query(`do $$ declare name regclass; begin
    for name in select oid from pg_class where relkind = 'r' and relnamespace::regnamespace::text = any(${schemas}) loop
      execute format('alter table %s set (autovacuum_enabled = off)', name);
    end loop;
  end $$`)

  const count = async (): Promise<number> => {
    const others = `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
    await eventually(async () => (await counter.query(others)).rowCount === 0)
    const { rows } = await counter.query(
      `select sum(coalesce(heap_blks_hit, 0) + coalesce(heap_blks_read, 0) + coalesce(idx_blks_hit, 0)
        + coalesce(idx_blks_read, 0))::integer as blocks
      from pg_statio_user_tables where schemaname = any(${schemas})`,
    )
    return rows[0].blocks
  }
  return {
    /** The planner knows how large the tables are, as it does in production. */
    analyze: () => counter.query('analyze'),
    /** Blocks of tables and indexes that a run reads. */
    async blocksOf(isFull: boolean): Promise<number> {
      // Of what is still open the next run would read all again.
      await ended(counter)
      const before = await count()
      await runOf(quiet, { isFull })
      return (await count()) - before
    },
    async write(run: (by: Writer) => Promise<unknown>): Promise<void> {
      const db = await connectDatabase('wallet', { DATABASE_URL, DATABASE_POOL_MAX: 4 }, { vault: noVault })
      const admin = new pg.Pool({ connectionString: quiet.databaseUrl, max: 4 })
      try {
        await run({ admin, ledger: new Ledger({ db }) })
      } finally {
        await Promise.all([db.close(), admin.end()])
      }
    },
  }
}
