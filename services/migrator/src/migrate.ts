import { roleName, type ServiceName } from '@backoffice/contracts'
import { type Logger, limitsMs, retry, systemTimers, type Timers } from '@backoffice/process'
import { type Migration, sqlState } from '@backoffice/service-runtime'
import { Migrator, Migration as MikroMigration } from '@mikro-orm/migrations'
import { MikroORM } from '@mikro-orm/postgresql'

const attemptsMax = 20
/** Long enough for those who waited to be done. Random, so that it does not keep meeting something that is periodic. */
const pauseMs = { min: 1_000, max: 4_000 }

/**
 * Brings a service's schema up to date, each migration by itself. Runs as the owner of the schemas, never as the service's
 * own role.
 * @param log told of each attempt that met a lock
 * @param timers by which it waits for the next attempt
 * @returns the names of the migrations that were applied
 */
export async function migrate({
  service,
  migrations,
  url,
  log,
  timers,
}: {
  readonly service: ServiceName
  readonly migrations: readonly Migration[]
  readonly url: string
  readonly log?: Logger | undefined
  readonly timers?: Timers
}): Promise<string[]> {
  const orm = await MikroORM.init({
    clientUrl: url,
    schema: service,
    entities: [],
    discovery: { warnWhenNoEntities: false },
    extensions: [Migrator],
    migrations: {
      migrationsList: migrations.map(toClass),
      tableName: 'migration',
      snapshot: false,
      allOrNothing: false,
      silent: true,
    },
    ensureDatabase: false,
    // As in connect.ts, the URL says whether TLS is used.
    driverOptions: { connectionString: url },
    pool: { min: 0, max: 1 },
  })
  try {
    const applied: string[] = []
    const pending = await orm.migrator.getPending()
    for (const [index, { name }] of pending.entries()) {
      log?.info(
        { service, migration: name },
        `the migration ${name} of ${service} begins, ${index + 1} of ${pending.length}`,
      )
      await untilUnlocked(
        () => orm.migrator.up({ migrations: [name] }),
        (err, attempt) =>
          log?.warn(
            { service, migration: name, attempt, err },
            `the migration ${name} of ${service} waits for a lock that somebody holds; it is tried again`,
          ),
        timers,
      )
      applied.push(name)
    }
    // This table came with the rights of any other. Whoever could write it could have a migration left out, or run again.
    // The service reads it, and does not start on an older schema.
    const [table, role] = [`${service}.migration`, roleName(service)]
    await orm.em.getConnection().execute(`revoke all on ${table} from ${role}; grant select on ${table} to ${role}`)
    return applied
  } finally {
    await orm.close()
  }
}

/** Tries again what somebody else's lock made fail, after a pause that lets the others go on. */
export const untilUnlocked = <T>(
  run: () => Promise<T>,
  told: (error: unknown, attempt: number) => void,
  timers: Timers = systemTimers,
): Promise<T> =>
  retry(run, {
    timers,
    attemptsMax,
    pauseMs: () => pauseMs.min + Math.random() * (pauseMs.max - pauseMs.min),
    while(error, attempt) {
      if (!isCausedByOthers(error)) return false
      told(error, attempt)
      return true
    },
  })

/** What a transaction that takes locks begins with. */
export const limits = () =>
  `set local lock_timeout = ${limitsMs.migrationLock}; set local statement_timeout = ${limitsMs.migrationStatement}`

/** Another session made it fail: by a lock, a deadlock, or building the same index, for which there is no state of its own. */
const isCausedByOthers = (error: unknown): boolean =>
  statesCausedByOthers.includes(sqlState(error) ?? '') || String(error).includes('tuple concurrently')
/** lock_not_available, serialization_failure, deadlock_detected */
const statesCausedByOthers = ['55P03', '40001', '40P01']

const toClass = (migration: Migration) => ({
  name: migration.name,
  class: migration.transactional === false ? outsideTransaction(migration) : inTransaction(migration),
})

const inTransaction = ({ sql }: Migration) =>
  class extends MikroMigration {
    override up(): void {
      this.addSql(limits())
      this.addSql(sql)
    }
  }

/** Single statements that may be run again after a death in the middle. */
const repeatable = [
  /^\s*alter\s+table\s+[\w.]+\s+validate\s+constraint\s+\w+\s*;?\s*$/i,
  /^\s*drop\s+index\s+concurrently\s+if\s+exists\s+[\w.]+\s*;?\s*$/i,
]

const outsideTransaction = ({ name, sql }: Migration) => {
  const index = indexBuiltBy(sql)
  if (index === null && !repeatable.some((pattern) => pattern.test(sql)))
    throw new Error(`${name} is neither a concurrent index nor a validation, so it may not be safe to run it again`)
  return class extends MikroMigration {
    override isTransactional(): boolean {
      return false
    }

    override async up(): Promise<void> {
      // It waits for transactions that are older than itself, with locks that hold up nobody.
      this.addSql('set lock_timeout = 0; set statement_timeout = 0')
      const before = index === null ? 'none' : await stateOf(index, (text) => this.execute(text))
      // Somebody died between the index and the record of this migration.
      if (before === 'valid') return
      if (before === 'invalid') this.addSql(`drop index concurrently ${index}`)
      this.addSql(sql)
    }
  }
}

/** The index that a statement builds concurrently, with its schema; null when it builds none. */
function indexBuiltBy(sql: string): string | null {
  const pattern = /^\s*create\s+(?:unique\s+)?index\s+concurrently\s+(\w+)\s+on\s+(\w+)\.\w+[^;]*;?\s*$/i
  const [, name, schema] = pattern.exec(sql) ?? []
  return name === undefined ? null : `${schema}.${name}`
}

/** An index that somebody died over is there and is not valid: it is kept up to date and never read. */
async function stateOf(
  index: string,
  execute: (text: string) => Promise<readonly { readonly valid?: boolean }[]>,
): Promise<'none' | 'invalid' | 'valid'> {
  const [found] = await execute(`select indisvalid as valid from pg_index where indexrelid = to_regclass('${index}')`)
  if (found === undefined) return 'none'
  return found.valid === true ? 'valid' : 'invalid'
}
