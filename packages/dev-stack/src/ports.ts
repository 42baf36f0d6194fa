import { createServer } from 'node:net'

/** A TCP port of 127.0.0.1 that nobody listens on at this moment. */
export function freePort(): Promise<number> {
  return listenOnce(0)
}

export async function portIsFree(port: number): Promise<boolean> {
  return listenOnce(port).then(
    () => true,
    () => false,
  )
}

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address() as { port: number }
      server.close(() => resolve(address.port))
    })
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
