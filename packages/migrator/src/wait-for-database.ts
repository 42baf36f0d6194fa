import { patiently, retry } from '@backoffice/process'
import { isPassingFault } from '@backoffice/service-runtime'
import pg from 'pg'

const pauseMs = 500
const connectionTimeoutMs = 5_000

/**
 * Waits until PostgreSQL lets this login in.
 * @param onWait told once, when the first attempt found no server
 * @throws what the server said, or the last reason when `waitMs` have passed
 */
export async function waitForDatabase(
  url: string,
  { waitMs, onWait }: { readonly waitMs: number; readonly onWait: (reason: unknown) => void },
): Promise<void> {
  await retry(() => connectAndLeave(url), {
    pauseMs,
    untilMs: performance.now() + waitMs,
    while(error, attempt) {
      if (!isPassingFault(error)) return false
      if (attempt === 1) onWait(error)
      return true
    },
  })
}

async function connectAndLeave(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: patiently(connectionTimeoutMs) })
  // A server that goes away between two lines says so here too.
  client.on('error', () => {})
  try {
    await client.connect()
  } finally {
    await client.end().catch(() => {})
  }
}
