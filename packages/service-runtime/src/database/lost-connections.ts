import type { Socket } from 'node:net'
import type { Pool, PoolClient } from 'pg'

/** Who holds a connection when it breaks gets its error first, and may well give it back by itself. */
const graceMs = 500
/**
 * A server that lives answers or complains sooner: statements and idle transactions have shorter limits there. One whose
 * machine was lost says nothing, and without this its connections would hang until the kernel gives up, a quarter of an
 * hour later.
 */
const silenceMsMax = 25_000

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

/** Ends connections over which nothing came or went for `silenceMs`. */
export function endSilentConnections(pool: Pool, silenceMs = silenceMsMax): void {
  pool.on('connect', (client) => {
    // Not in the driver's types.
    const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection
    stream.setTimeout(silenceMs, () => stream.destroy(new Error('the connection was terminated: PostgreSQL is silent')))
  })
}
