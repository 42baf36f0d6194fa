import type { Server } from 'node:http'
import { holderOf } from '@backoffice/service-runtime/standalone'
import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance } from 'fastify'
import type { IsTrusted } from './trusted-proxies.ts'

export interface Limits {
  readonly requestsPerMinute: number
  readonly connectionsPerAddress: number
  readonly connectionsMax: number
  readonly trustedProxies: IsTrusted
}

const minuteMs = 60_000
/** Whoever has more addresses than this is not stopped by a bound per address; the pool of connections still bounds him. */
const addressesMax = 10_000
const noHeaders = { 'x-ratelimit-limit': false, 'x-ratelimit-remaining': false, 'x-ratelimit-reset': false }

/** Refuses what an address sends beyond its requests a minute with 429 and Retry-After, before anything is read. */
export async function limitRequests(app: FastifyInstance, { requestsPerMinute }: Limits): Promise<void> {
  await app.register(rateLimit, {
    max: requestsPerMinute,
    timeWindow: minuteMs,
    cache: addressesMax,
    keyGenerator: ({ ip }) => holderOf(ip),
    addHeaders: { ...noHeaders, 'retry-after': true },
    addHeadersOnExceeding: noHeaders,
    errorResponseBuilder: () => Object.assign(new Error('limited'), { statusCode: 429 }),
  })
}

/** Closes what an address opens beyond its connections. A request that never comes holds nothing else up. */
export function limitConnections(
  server: Server,
  { connectionsPerAddress, connectionsMax, trustedProxies }: Limits,
): void {
  server.maxConnections = connectionsMax
  const open = new Map<string, number>()
  server.on('connection', (socket) => {
    const peer = socket.remoteAddress ?? ''
    if (trustedProxies(peer)) return
    const holder = holderOf(peer)
    const count = (open.get(holder) ?? 0) + 1
    if (count > connectionsPerAddress) {
      socket.destroy()
      return
    }
    open.set(holder, count)
    socket.once('close', () => {
      const left = (open.get(holder) ?? 1) - 1
      if (left === 0) open.delete(holder)
      else open.set(holder, left)
    })
  })
}
