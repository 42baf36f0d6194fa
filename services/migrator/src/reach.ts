import { lookup } from 'node:dns/promises'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

export interface Target {
  readonly host: string
  readonly port: number
}

/** How far an attempt came, and what then stands in the way. */
export const obstacles = {
  name: 'the name does not resolve: no way to the resolver (DNS), or no such name',
  silence: 'no answer: a network policy or a route drops it',
  refusal: 'refused: nothing listens there yet, or a network policy rejects it',
  route: 'no route to the address',
} as const
export type Obstacle = keyof typeof obstacles

export interface Outcome extends Target {
  readonly addresses: readonly string[]
  /** null when the connection was opened. */
  readonly obstacle: Obstacle | null
}

const pauseMs = 500
/** Of one attempt. Longer than it takes when it is not dropped, whatever the load. */
const attemptMs = 5_000

/**
 * Resolves the name as the services do, opens a TCP connection to the first of its addresses that takes one, and closes
 * it. Whatever fails is tried again until `waitMs` have passed: the other end may still be starting.
 */
export async function reach(target: Target, { waitMs }: { readonly waitMs: number }): Promise<Outcome> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const outcome = await attempt(target)
    if (outcome.obstacle === null || performance.now() + pauseMs > deadline) return outcome
    await wait(pauseMs)
  }
}

async function attempt(target: Target): Promise<Outcome> {
  const addresses = await addressesOf(target.host)
  let obstacle: Obstacle | null = 'name'
  for (const address of addresses) {
    obstacle = await open(address, target.port)
    if (obstacle === null) break
  }
  return { ...target, addresses, obstacle }
}

/** None when the name is unknown, or when nobody says what it means. */
export async function addressesOf(host: string): Promise<readonly string[]> {
  const asked = lookup(host, { all: true }).then(
    (found) => found.map(({ address }) => address),
    () => [],
  )
  return Promise.race([asked, wait(attemptMs, [], { ref: false })])
}

const unreachable = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'])

function open(address: string, port: number): Promise<Obstacle | null> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port })
    const end = (obstacle: Obstacle | null) => {
      socket.destroy()
      resolve(obstacle)
    }
    socket.setTimeout(attemptMs, () => end('silence'))
    socket.once('connect', () => end(null))
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED') end('refusal')
      else end(code !== undefined && unreachable.has(code) ? 'route' : 'silence')
    })
  })
}

const portOf: Readonly<Record<string, number>> = {
  'https:': 443,
  'http:': 80,
  'nats:': 4222,
  'tls:': 4222,
  'postgresql:': 5432,
  'postgres:': 5432,
}

/**
 * @param text URLs, or host:port, separated by commas
 * @throws naming what is neither
 */
export function targetsIn(text: string): readonly Target[] {
  const parts = text.split(',').map((part) => part.trim())
  return parts
    .filter((part) => part !== '')
    .map((part) => {
      const url = URL.parse(part.includes('://') ? part : `tcp://${part}`)
      const port = Number(url?.port) || portOf[url?.protocol ?? '']
      if (url === null || url.hostname === '' || port === undefined) throw new Error(`no URL and no host:port: ${part}`)
      return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port }
    })
}
