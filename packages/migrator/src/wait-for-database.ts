import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

const pauseMs = 500
const connectionTimeoutMs = 5_000

/** No server there yet, or one that is starting, stopping or full; anything else is a fault that waiting does not mend. */
const passing: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  '57P01',
  '57P03',
  '53300',
])

/**
 * Waits until PostgreSQL lets this login in.
 * @param onWait told once, when the first attempt found no server
 * @throws what the server said, or the last reason when `waitMs` have passed
 */
export async function waitForDatabase(
  url: string,
  { waitMs, onWait }: { readonly waitMs: number; readonly onWait: (reason: unknown) => void },
): Promise<void> {
  const deadline = Date.now() + waitMs
  for (let attempt = 1; ; attempt++) {
    try {
      return await connectAndLeave(url)
    } catch (error) {
      if (!isPassing(error) || Date.now() + pauseMs > deadline) throw error
      if (attempt === 1) onWait(error)
      await delay(pauseMs)
    }
  }
}

async function connectAndLeave(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectionTimeoutMs })
  // A server that goes away between two lines says so here too.
  client.on('error', () => {})
  try {
    await client.connect()
  } finally {
    await client.end().catch(() => {})
  }
}

function isPassing(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  // The driver gives these two no code.
  return passing.has(String(code)) || /timeout expired|terminated unexpectedly/.test(String(message))
}
