import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the ports that systems give to outgoing connections (32768 and up on Linux). Such a connection could otherwise
 * take a killed server's port before the server is back.
 */
const [first, last] = [15_000, 32_000]
const given = new Set<number>()

/** A port of 127.0.0.1 that stays its server's while the server is down. */
export async function lastingPort(): Promise<number> {
  for (;;) {
    const port = randomInt(first, last)
    if (given.has(port) || !(await isFree(port))) continue
    given.add(port)
    return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
