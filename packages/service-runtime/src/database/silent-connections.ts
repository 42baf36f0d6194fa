import type { Socket } from 'node:net'
import type { Pool } from 'pg'

/**
 * A server that lives answers or complains sooner: statements and idle transactions have shorter limits there. One whose
 * machine was lost says nothing, and without this its connections would hang until the kernel gives up, a quarter of an
 * hour later.
 */
const silenceMsMax = 25_000

/** Ends connections over which nothing came or went for `silenceMs`. */
export function endSilentConnections(pool: Pool, silenceMs = silenceMsMax): void {
  pool.on('connect', (client) => {
    // Not in the driver's types.
    const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection
    stream.setTimeout(silenceMs, () => stream.destroy(new Error('the connection was terminated: PostgreSQL is silent')))
  })
}
