import type { Logger } from '@backoffice/service-runtime'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { type AddressRanges, callerAddress } from '../operators/addresses.ts'
import { header } from './request.ts'

const knownMax = 1_000
/** Anybody can send a longer header, which is not worth remembering. */
const forwardedLengthMax = 200

/** Finds out from where requests come. */
export class CallerAddresses {
  readonly #trustedProxies: AddressRanges
  readonly #log: Logger
  #warned = false
  /** By what was sent. Operators send from few addresses, and to read one costs much more than to look it up. */
  readonly #known = new LRUCache<string, string>({ max: knownMax })

  constructor({ trustedProxies, log }: { readonly trustedProxies: AddressRanges; readonly log: Logger }) {
    this.#trustedProxies = trustedProxies
    this.#log = log
  }

  of(request: FastifyRequest): string {
    const peer = request.raw.socket.remoteAddress ?? ''
    const forwardedFor = header(request, 'x-forwarded-for')
    if (forwardedFor !== undefined && !this.#warned) this.#warnUnlessTrusted(peer)
    if (forwardedFor !== undefined && forwardedFor.length > forwardedLengthMax) return this.#read(peer, forwardedFor)
    const name = `${peer} ${forwardedFor ?? ''}`
    let address = this.#known.get(name)
    if (address === undefined) {
      address = this.#read(peer, forwardedFor)
      this.#known.set(name, address)
    }
    return address
  }

  #read(peer: string, forwardedFor: string | undefined): string {
    return callerAddress({ peer, forwardedFor, trustedProxies: this.#trustedProxies })
  }

  /**
   * If a proxy of ours is not trusted, all operators share its address: permitted addresses refuse everybody, and the
   * bound on failures counts everybody as one. Said once, because clients can send the header too.
   */
  #warnUnlessTrusted(peer: string): void {
    if (this.#trustedProxies.has(peer)) return
    this.#warned = true
    this.#log.error(
      { peer },
      'a request has X-Forwarded-For, but its sender is not in TRUSTED_PROXIES; if that is a proxy of ours, all operators have its address',
    )
  }
}
