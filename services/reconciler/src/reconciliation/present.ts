import { setTimeout as wait } from 'node:timers/promises'
import type { Database, ReadDb } from '@backoffice/service-runtime'
import type { Snapshots } from './snapshots.ts'

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
