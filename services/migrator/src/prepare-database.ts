import { setTimeout as wait } from 'node:timers/promises'
import type { DatabaseRole, ServiceName } from '@backoffice/contracts'
import type { Logger } from '@backoffice/process'
import pg from 'pg'
import { type Home, linkDatabases } from './link.ts'
import { migrate } from './migrate.ts'
import { provisionDatabase } from './provision.ts'
import { services } from './schema.ts'

/** Of the login roles. */
export type RolePasswords = Readonly<Record<DatabaseRole, string>>

export interface AppliedMigrations {
  readonly service: ServiceName
  /** Names, in order; none when the schema was up to date. */
  readonly applied: readonly string[]
}

/** Any number: all that prepare one database take this lock. */
const preparationLock = 3_960_215
const lockPauseMs = 250
/** Longer than any preparation takes. Every role of the database could hold the lock. */
const turnWaitMsDefault = 15 * 60_000

interface Preparation {
  readonly log?: Logger
  /** As `linkDatabases` takes it. */
  readonly caFile?: string | undefined
  readonly turnWaitMs?: number
}

/**
 * Roles, schemas and rights, then each service's migrations, and at last what databases see of each other. Repeating it
 * changes nothing; a second one at the same time waits for the first.
 * @param homes with a role that may create roles and owns the database
 * @throws when somebody else has not ended within `turnWaitMs`; who that is
 */
export async function prepareDatabases(
  homes: readonly Home[],
  passwords: RolePasswords,
  { log, caFile, turnWaitMs = turnWaitMsDefault }: Preparation = {},
): Promise<readonly AppliedMigrations[]> {
  const client = new pg.Client({ connectionString: homes[0]?.url })
  // A connection that is lost while others work shows when the lock is given back.
  client.on('error', () => {})
  await client.connect()
  try {
    // Held by this connection: it goes when this process dies, however it dies.
    await takeTurn(client, turnWaitMs)
    const outcome: AppliedMigrations[] = []
    for (const { url, services: local } of homes) {
      await provisionDatabase({ adminUrl: url, passwords, local })
      for (const { name: service, migrations } of services)
        if (local.includes(service))
          outcome.push({ service, applied: await migrate({ service, migrations, url, log }) })
    }
    await linkDatabases(homes, passwords, { log, caFile })
    await client.query('select pg_advisory_unlock($1)', [preparationLock])
    return outcome
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * Asks again and again instead of waiting in PostgreSQL: who waits there has a snapshot, and an index that the other one
 * builds concurrently would wait for that in turn, for ever.
 */
async function takeTurn(client: pg.Client, turnWaitMs: number): Promise<void> {
  for (const startMs = performance.now(); performance.now() - startMs < turnWaitMs; ) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
      preparationLock,
    ])
    if (rows[0]?.taken === true) return
    await wait(lockPauseMs)
  }
  const { rows } = await client.query<{ holder: string }>(
    `select format('%s (pid %s)', a.usename, a.pid) as holder from pg_locks l join pg_stat_activity a using (pid)
     where l.locktype = 'advisory' and l.objid = $1 and l.granted`,
    [preparationLock],
  )
  throw new Error(`somebody else prepares the database, and does not end: ${rows[0]?.holder ?? 'nobody by now'}`)
}
