import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the ports that systems give to outgoing connections (from 32768 on Linux, from 49152 elsewhere). Such a connection
 * could take the port before a server listens on it, or while a server that was killed is away.
 */
const range = { from: 15_000, to: 32_000 }
const triesMax = 100
/** By this process. */
const claimed = new Set<number>()

/** A TCP port of 127.0.0.1 that nobody listens on, and that nobody else is given while this process runs. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const port = randomInt(range.from, range.to)
    if (!claimed.has(port) && (await claimPort(port))) return port
  }
  throw new Error(`no free port was found between ${range.from} and ${range.to}`)
}

/**
 * Claims a port for as long as this process runs, for a server that listens on it later. The claim is the UDP port of the
 * same number, which no other process gets meanwhile, on any system, and which ends with the process.
 * @returns whether it is ours, by this claim or an earlier one, and nobody listens on it
 */
export async function claimPort(port: number): Promise<boolean> {
  if (claimed.has(port)) return portIsFree(port)
  const claim = createSocket('udp4').unref()
  claim.bind({ port, address: '127.0.0.1', exclusive: true })
  const isOurs = await once(claim, 'listening').then(
    () => portIsFree(port),
    () => false,
  )
  if (isOurs) claimed.add(port)
  else claim.close()
  return isOurs
}

const portIsFree = async (port: number): Promise<boolean> => (await refusalOf(port)) === undefined

/** What the system answers to whoever wants to listen there. */
function refusalOf(port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(undefined)))
  })
}

/** @throws with what is in the way, and how to choose another */
export async function assertPortIsOurs(port: number): Promise<void> {
  const refusal = await refusalOf(port)
  if (refusal === undefined) return
  const why = {
    EADDRINUSE: `is taken (lsof -nP -iTCP:${port} says by whom)`,
    EACCES: 'is not permitted to this user',
  }[refusal.code ?? '']
  throw new Error(
    `Port ${port} ${why ?? `cannot be used: ${refusal.message}`}. Choose another with: npm start -- --port P (0 takes any free one)`,
  )
}

/** Calls of this machine to itself go to no proxy, whatever the shell says of calls to the outside. */
export function keepLoopbackDirect(env: NodeJS.ProcessEnv = process.env): void {
  const direct = new Set((env.no_proxy ?? env.NO_PROXY ?? '').split(',').filter(Boolean))
  env.no_proxy = env.NO_PROXY = [...direct.add('127.0.0.1').add('localhost')].join(',')
}

const portAttemptsMax = 3

/** Runs `start` on the given port, or on free ones: a program of somebody else may take a free port before it is used. */
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
