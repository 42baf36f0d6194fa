import type { Database } from '@backoffice/database'
import { isPassingFault } from '@backoffice/database'
import { type Logger, retry } from '@backoffice/process'
import type { Migration } from './runtime-tables.ts'

const retryMs = 500
/** How often it says that it still waits. */
const sayEveryMs = 30_000

/** The database is not what this release needs: its migrator has not run on it, or its server is set otherwise. */
class NotPrepared extends Error {
  override readonly name = 'NotPrepared'
}

interface Needs {
  readonly migrations: readonly Migration[]
  /** How long the migrator may still take. */
  readonly waitMs: number
  /** The data may be lost with the server, as those of tests. */
  readonly isDevelopment: boolean
  readonly log: Logger
}

/**
 * Waits until every migration of this release is applied, so that a process that starts before the migrator is done serves
 * at once when it is. A newer schema has them all. A PostgreSQL that cannot be reached is waited for as long as the process
 * lives: nothing can be said about its schema.
 * @throws {NotPrepared} after `waitMs`, or what else PostgreSQL says against the login
 */
export function untilPrepared(db: Database, { waitMs, log, ...needs }: Needs): Promise<void> {
  const deadline = performance.now() + waitMs
  let saidAt = Number.NEGATIVE_INFINITY
  return retry(() => assertPrepared(db, needs), {
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
        log.warn(
          { err },
          isAway ? 'waiting for PostgreSQL to answer' : 'waiting until the migration Job has prepared the database',
        )
      }
      return true
    },
  })
}

async function assertPrepared(
  db: Database,
  { migrations, isDevelopment }: Omit<Needs, 'waitMs' | 'log'>,
): Promise<void> {
  // Over the role for reading, which is made together with the service's own.
  const [found] = await db.reader<{ applied: string[]; readOnly: string }>`
    select array(select name::text from migration) as applied, current_setting('transaction_read_only') as read_only
  `
  const applied = new Set(found?.applied)
  const missing = migrations.map(({ name }) => name).filter((name) => !applied.has(name))
  if (missing.length > 0) throw new NotPrepared(`the schema is older than this release: it lacks ${missing.join(', ')}`)
  // A pooler can take a setting away, and a restore into another server leaves the roles' settings behind.
  if (found?.readOnly !== 'on') throw new NotPrepared('the role for reading may write: its settings are not in force')
  if (!isDevelopment)
    assertDurable(
      await db<Setting>`
      select name, setting from pg_settings where name = any(${Object.keys(durable)})
    `,
    )
}

interface Setting {
  readonly name: string
  readonly setting: string
}

/** The values with which PostgreSQL remembers what it has committed, whatever ends its machine. */
const durable: Readonly<Record<string, readonly string[]>> = {
  fsync: ['on'],
  full_page_writes: ['on'],
  synchronous_commit: ['on', 'remote_apply'],
}

/**
 * @param settings of a session in which money is written, or of the server alone; others than those that matter do no harm
 * @throws {NotPrepared}
 */
export function assertDurable(settings: readonly Setting[]): void {
  const wrong = settings.filter(({ name, setting }) => durable[name]?.includes(setting) === false)
  if (wrong.length === 0) return
  const said = wrong.map(({ name, setting }) => `${name} is ${setting}`)
  throw new NotPrepared(`PostgreSQL may forget what it has committed: ${said.join(', ')}`)
}
