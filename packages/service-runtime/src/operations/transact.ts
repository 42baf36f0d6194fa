import { type Logger, newId } from '@backoffice/process'
import { type Database, readNow } from '../database/db.ts'
import type { Relay } from '../outbox/relay.ts'
import type { OutboxRow } from '../outbox/store.ts'
import type { ExecuteTools } from './handle.ts'
import { collectRows, insertUnclaimedRows } from './record.ts'

/** One transaction with the tools of a command, for work that no request asked for: a sweeper's, a scheduler's. */
export type Transact = <T>(run: (tools: Omit<ExecuteTools, 'changed'>) => Promise<T>) => Promise<T>

/** The relay sends what such work leaves in the outbox, because no request waits for it. */
export function transactor(context: { readonly db: Database; readonly relay: Relay; readonly log: Logger }): Transact {
  const { db, relay, log } = context
  return async (run) => {
    const { result, sent } = await db.transaction(async (tx) => {
      const now = await readNow(tx)
      const rows: OutboxRow[] = []
      const result = await run({ db: tx, now, newId, log, ...collectRows(rows, { requestId: newId('req'), now }) })
      await tx.flush()
      await insertUnclaimedRows(tx, rows)
      return { result, sent: rows.length }
    })
    if (sent > 0) relay.nudge('command', 'event')
    return result
  }
}
