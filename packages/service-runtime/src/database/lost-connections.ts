import type { Pool, PoolClient } from 'pg'

/** Who holds a connection when it breaks gets its error first, and may well give it back by itself. */
const graceMs = 500

/**
 * Gives a pool its places back when connections break in the middle of a transaction. Kysely's controlled transactions,
 * which the ORM uses, release a connection only after a begin, commit or rollback that succeeded: without this, each
 * connection that PostgreSQL drops at such a moment takes one place of the pool for ever, and closing waits for it.
 */
export function reclaimLostConnections(pool: Pool): void {
  const taken = new WeakSet<PoolClient>()
  pool.on('acquire', (client) => taken.add(client))
  pool.on('release', (_error, client) => taken.delete(client))
  pool.on('connect', (client) => {
    client.once('end', () => {
      if (!taken.has(client)) return
      setTimeout(() => taken.has(client) && client.release(true), graceMs)
    })
  })
}
