import type { Socket } from 'node:net'
import type { Pool } from 'pg'

/**
 * A server that is alive replies or reports an error sooner, because its own limits for statements and idle
 * transactions are shorter. A server whose machine was lost stays silent. Without this limit its connections would hang
 * for a quarter of an hour, until the kernel gives up.
 */
const silenceMsMax = 25_000

/** Closes connections over which nothing was sent or received for `silenceMs`. */
export function endSilentConnections(pool: Pool, silenceMs = silenceMsMax): void {
  pool.on('connect', (client) => {
    // Not in the driver's types.
    const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection
    stream.setTimeout(silenceMs, () => stream.destroy(new Error('the connection was terminated: PostgreSQL is silent')))
  })
}
