import type { DurableWith } from '@backoffice/rpc'
import type { ReadDb } from './db.ts'

/**
 * PostgreSQL's write-ahead log. What is durable in it makes all before it durable: so a commit need not wait for the disk, or
 * for a standby, where a later commit in the same log does, before anybody is told.
 */
export class WriteAheadLog {
  /** The server's `system_identifier`; undefined where it is not known. */
  id: string | undefined
  /** What the services share that this one calls; undefined as soon as one of them has another: then each commit waits. */
  shared: DurableWith | undefined

  /** Where the role may not ask, every commit waits. */
  async find(db: ReadDb): Promise<void> {
    const found = db<{ id: string }>`select system_identifier::text as id from pg_control_system()`
    const [control] = await found.catch(() => [])
    this.id = control?.id
    if (this.id === undefined) return
    this.shared = {
      id: this.id,
      differs: () => {
        this.shared = undefined
      },
    }
  }
}
