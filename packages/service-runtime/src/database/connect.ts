import type { ServiceName } from '@backoffice/contracts'
import { type EntityManager, MikroORM, type Options } from '@mikro-orm/postgresql'
import type { Pool } from 'pg'
import type { ServiceConfig } from '../config.ts'
import { endSilentConnections, reclaimLostConnections } from './lost-connections.ts'
import { verifiedUrl } from './tls.ts'

export type Entities = NonNullable<Options['entities']>

const statementTimeoutMs = 15_000
const idleTransactionTimeoutMs = 20_000
const connectionTimeoutMs = 3_000

/** Connects as the service's role. Names without a schema mean the service's own. */
export function connectDatabase(service: ServiceName, config: ServiceConfig, entities: Entities): Promise<MikroORM> {
  const settings = [
    `-c search_path=${service}`,
    `-c statement_timeout=${statementTimeoutMs}`,
    `-c idle_in_transaction_session_timeout=${idleTransactionTimeoutMs}`,
    '-c timezone=UTC',
  ]
  const url = verifiedUrl(config.DATABASE_URL, config.DATABASE_CA_FILE)
  return MikroORM.init({
    clientUrl: url,
    schema: service,
    entities,
    discovery: { warnWhenNoEntities: false },
    ensureDatabase: false,
    pool: { min: 0, max: config.DATABASE_POOL_MAX },
    driverOptions: {
      // The ORM takes host, user and database out of a URL and forgets the rest, TLS included.
      connectionString: url,
      onPoolCreated(pool: Pool) {
        reclaimLostConnections(pool)
        endSilentConnections(pool)
      },
      application_name: service,
      options: settings.join(' '),
      connectionTimeoutMillis: connectionTimeoutMs,
      keepAlive: true,
    },
  })
}

/** Serialization failure and deadlock: the transaction did nothing and may simply run again. */
const retryableSqlStates: ReadonlySet<string> = new Set(['40001', '40P01'])
const transactionAttemptsMax = 4

/** One transaction in a fork of its own, run again when PostgreSQL asks for it. */
export async function inTransaction<T>(orm: MikroORM, run: (em: EntityManager) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await orm.em.fork().transactional((em) => run(em as EntityManager))) as T
    } catch (error) {
      if (attempt >= transactionAttemptsMax || !retryableSqlStates.has(sqlState(error) ?? '')) throw error
    }
  }
}

/** The SQLSTATE behind an error of the driver or of the ORM around it. */
export function sqlState(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = (cause as { code?: unknown }).code
    if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return code
  }
  return undefined
}
