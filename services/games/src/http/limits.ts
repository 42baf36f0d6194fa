import type { Server } from 'node:http'
import { holderOf, type IsTrusted } from '@backoffice/process'

export interface Limits {
  readonly requestsPerMinute: number
  readonly connectionsPerAddress: number
  readonly trustedProxies: IsTrusted
}

/** Closes what an address opens beyond its connections. A request that never comes holds nothing else up. */
export function limitConnections(server: Server, { connectionsPerAddress, trustedProxies }: Limits): void {
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
