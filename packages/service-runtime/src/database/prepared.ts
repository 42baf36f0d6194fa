import type { Database } from '@backoffice/database'
import { isPassingFault } from '@backoffice/database'
import { type Logger, retry } from '@backoffice/process'
import type { Migration } from './runtime-tables.ts'

const retryMs = 500
/** How often it says that it still waits. */
const sayEveryMs = 30_000

/** The database is not what this release needs: the migrator of this release has not run on it. */
class NotPrepared extends Error {
  override readonly name = 'NotPrepared'
}

interface Needs {
  readonly migrations: readonly Migration[]
  /** How long the migrator may still take. */
  readonly waitMs: number
  readonly log: Logger
}

/**
 * Waits until every migration of this release is applied, so that a process that starts before the migrator is done serves
 * at once when it is. A newer schema has them all. A PostgreSQL that cannot be reached is waited for as long as the process
 * lives: nothing can be said about its schema.
 * @throws {NotPrepared} after `waitMs`, or what else PostgreSQL says against the login
 */
export function untilPrepared(db: Pick<Database, 'reader'>, { migrations, waitMs, log }: Needs): Promise<void> {
  const deadline = performance.now() + waitMs
  let saidAt = Number.NEGATIVE_INFINITY
  return retry(() => assertPrepared(db, migrations), {
    pauseMs: retryMs,
    while(err) {
      const isAway = !(err instanceof NotPrepared) && isPassingFault(err)
      const now = performance.now()
      if (!isAway && now + retryMs > deadline) {
        log.fatal({ err }, 'the database is not prepared for this release')
        return false
      }
      if (now >= saidAt + sayEveryMs) {
        saidAt = now
        log.warn({ err }, isAway ? 'waiting for PostgreSQL' : 'waiting for the migrations')
      }
      return true
    },
  })
}

/** Over the role for reading, which is made together with the service's own. */
async function assertPrepared({ reader }: Pick<Database, 'reader'>, migrations: readonly Migration[]): Promise<void> {
  const [found] = await reader<{ applied: string[]; readOnly: string }>`
    select array(select name::text from migration) as applied, current_setting('transaction_read_only') as read_only
  `
  const applied = new Set(found?.applied)
  const missing = migrations.map(({ name }) => name).filter((name) => !applied.has(name))
  if (missing.length > 0) throw new NotPrepared(`the schema is older than this release: it lacks ${missing.join(', ')}`)
  // A pooler can take a setting away, and a restore into another server leaves the roles' settings behind.
  if (found?.readOnly !== 'on') throw new NotPrepared('the role for reading may write: its settings are not in force')
}
