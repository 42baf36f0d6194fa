import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Below the ports that systems give to outgoing connections (from 32768 on Linux, from 49152 elsewhere). One of those may
 * be given away between the moment when it is found free and the moment when a server listens on it.
 */
const range = { from: 20_000, to: 30_000 }
const triesMax = 100

/** A TCP port of 127.0.0.1 that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const port = randomInt(range.from, range.to)
    if (await portIsFree(port)) return port
  }
  throw new Error(`no free port was found between ${range.from} and ${range.to}`)
}

export function portIsFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

const portAttemptsMax = 3

/** Runs `start` on the given port, or on free ones: another process may take a free port before it is used. */
export async function onPort<T>(given: number | undefined, start: (port: number) => Promise<T>): Promise<T> {
  if (given !== undefined) return start(given)
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await freePort())
    } catch (error) {
      if (attempt >= portAttemptsMax || !/address already in use/i.test((error as Error).message)) throw error
    }
  }
}
