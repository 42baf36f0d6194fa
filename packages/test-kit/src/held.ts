import type pg from 'pg'
import { eventually } from './eventually.ts'

/**
 * What somebody else's transaction has locked or written, and keeps until it ends.
 * @param statement the last of what it did
 */
export async function held(admin: pg.Pool, statement: string, values: unknown[] = []) {
  const client = await admin.connect()
  await client.query('begin')
  await client.query(statement, values)
  const end = async (how: 'commit' | 'rollback') => {
    await client.query(how)
    client.release()
  }
  return {
    isAwaited: (who?: Waiting) => lockIsAwaited(admin, who),
    commit: () => end('commit'),
    rollback: () => end('rollback'),
  }
}

interface Waiting {
  readonly role?: string
  /** So many, and no more; else any. */
  readonly count?: number
}

/** Resolves once sessions of the database wait for a lock. Within a transaction PostgreSQL shows the activity of its first look. */
export const lockIsAwaited = (admin: pg.Pool, { role, count }: Waiting = {}) =>
  eventually(async () => {
    const { rowCount } = await admin.query(
      `select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and usename = coalesce($1, usename)`,
      [role],
    )
    return count === undefined ? rowCount !== 0 : rowCount === count
  })
