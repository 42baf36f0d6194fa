import { lookup, Resolver } from 'node:dns/promises'
import { isLoopbackAddress, isPublicAddress } from './address-rules.ts'
import { RefusedAddressError } from './fault-words.ts'
import { hostOf, isAddress, type SendingPolicy } from './receiver-url.ts'

/** Finds all addresses of a host name. */
export type ResolveHost = (host: string) => Promise<string[]>

const queryTimeoutMs = 2_000
const queryTries = 2
/** No honest host has a longer list. */
const addressesMax = 32

/**
 * Asks the name servers directly, without blocking. The system's resolver has four threads, and a few names whose
 * servers are silent would hold all of them.
 */
export function nameServerResolver(): ResolveHost {
  const resolver = new Resolver({ timeout: queryTimeoutMs, tries: queryTries })
  return async (host) => {
    const replies = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = replies.flatMap((reply) => (reply.status === 'fulfilled' ? reply.value : []))
    if (addresses.length > 0) return addresses
    throw (replies[0] as PromiseRejectedResult).reason
  }
}

/** For development: knows the names of /etc/hosts too. */
export const systemResolver: ResolveHost = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address)

/**
 * The addresses to which a request to `url` may go. If one address is not allowed, the host is refused: a real receiver
 * does not mix private and public addresses.
 * @throws {RefusedAddressError} or the resolver's own error
 */
export async function checkedAddresses(url: URL, resolve: ResolveHost, policy: SendingPolicy): Promise<string[]> {
  const host = hostOf(url)
  const addresses = (isAddress(url) ? [host] : await resolve(host)).slice(0, addressesMax)
  const isAllowed = (address: string) =>
    (isPublicAddress(address) && url.protocol === 'https:') || (policy.allowLoopback && isLoopbackAddress(address))
  const refused = addresses.filter((address) => !isAllowed(address))
  if (refused.length > 0 || addresses.length === 0) throw new RefusedAddressError(refused)
  return addresses
}
