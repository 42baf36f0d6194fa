import type { ServiceName } from '@backoffice/contracts'
import { type EntityManager, MikroORM, type Options } from '@mikro-orm/postgresql'
import { Kysely, PostgresDialect, type PostgresPool } from 'kysely'
import { type CustomTypesConfig, types } from 'pg'
import type { Queryable } from './db.ts'

export type Entities = NonNullable<Options['entities']>

/** MikroORM makes dates of PostgreSQL's times by itself (date, timestamp, timestamptz). */
const readAsText: ReadonlySet<number> = new Set([1082, 1114, 1184])
const decoding: CustomTypesConfig = {
  getTypeParser: ((oid: number, format: 'text' | 'binary') =>
    readAsText.has(oid)
      ? (text: string) => text
      : types.getTypeParser(oid, format)) as CustomTypesConfig['getTypeParser'],
}

/** Makes entity managers that work on connections of the caller. */
export interface EntityManagers {
  /** Each has an identity map of its own. */
  managerOver(connection: Queryable): EntityManager
}

/** Sets up MikroORM for a service's entities. It opens no connection. */
export async function entityManagers(
  service: ServiceName,
  entities: Entities,
  fallback: Queryable,
): Promise<EntityManagers> {
  const orm = await MikroORM.init({
    dbName: service,
    schema: service,
    entities,
    ensureDatabase: false,
    driverOptions: dialectOver(fallback),
  })
  return {
    managerOver(connection) {
      const manager = orm.em.fork()
      // To MikroORM this is a transaction that somebody else has begun: it begins and commits none of its own.
      manager.setTransactionContext(new Kysely({ dialect: dialectOver(connection) }))
      return manager as EntityManager
    },
  }
}

function dialectOver(connection: Queryable): PostgresDialect {
  const client = {
    query: (text: string, values: readonly unknown[]) =>
      connection.query({ text, values: values as unknown[], types: decoding }),
    release() {},
  }
  const pool = { connect: async () => client, end: async () => {} }
  return new PostgresDialect({ pool: pool as unknown as PostgresPool })
}
