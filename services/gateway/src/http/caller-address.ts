import { isIP } from 'node:net'
import type { IsTrusted, Logger } from '@backoffice/process'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { normalise } from '../operators/addresses.ts'

/**
 * The caller's address: the socket's peer, or, where the peer is a proxy of ours, the rightmost X-Forwarded-For hop that is
 * not one. Hops further left were written by the caller and prove nothing. Where a hop is missing or unreadable, the nearest
 * address that we know is the proxy's own.
 */
export function callerAddress({ ip, ips = [ip] }: Pick<FastifyRequest, 'ip' | 'ips'>): string {
  return normalise(ips.findLast((hop) => isIP(hop) !== 0) ?? '')
}

/**
 * If a proxy of ours is not trusted, all operators share its address: permitted addresses refuse everybody, and the
 * bound on failures counts everybody as one. Said once, because clients can send the header too.
 */
export function warnOfProxies(
  app: FastifyInstance,
  { isTrusted, log }: { readonly isTrusted: IsTrusted; readonly log: Logger },
): void {
  let warned = false
  app.addHook('onRequest', (request, _reply, done) => {
    const peer = request.socket.remoteAddress ?? ''
    if (!warned && request.headers['x-forwarded-for'] !== undefined && !isTrusted(peer)) {
      warned = true
      log.error(
        { peer },
        'a request has X-Forwarded-For, but its sender is not in TRUSTED_PROXIES; if that is a proxy of ours, all operators have its address',
      )
    }
    done()
  })
}
