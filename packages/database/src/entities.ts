import type { ServiceName } from '@backoffice/contracts'
import { type EntityManager, MikroORM, type Options } from '@mikro-orm/postgresql'
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

/** Sets up MikroORM for a service's entities. It opens no connection, and each manager works on one of the caller's. */
export async function entityManagers(service: ServiceName, entities: Entities): Promise<EntityManagers> {
  const orm = await MikroORM.init({ dbName: service, schema: service, entities, ensureDatabase: false })
  return {
    managerOver(connection) {
      const manager = orm.em.fork()
      manager.setTransactionContext(transactionOver(connection))
      return manager as EntityManager
    },
  }
}

/**
 * A transaction that somebody else has begun, as MikroORM sees it: it sends its statements through this one method, and
 * begins and commits none of its own.
 */
const transactionOver = (connection: Queryable) => ({
  async executeQuery({ sql: text, parameters }: { readonly sql: string; readonly parameters: readonly unknown[] }) {
    const { rows, rowCount } = await connection.query({ text, values: parameters as unknown[], types: decoding })
    return { rows, numAffectedRows: BigInt(rowCount ?? 0) }
  },
})
