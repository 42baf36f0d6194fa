import { isIP, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { AddressRanges, normaliseAddress, writtenRange } from './address-ranges.ts'
import { ConfigurationError } from './config.ts'

/** How much of an IPv6 address names its holder: one customer of a provider gets at least so many addresses. */
const holderPrefixBits = 64

/**
 * Who an address belongs to, as far as it tells: an IPv4 address itself, an IPv6 address's /64. Whoever has one address
 * of a /64 has all of them, so a bound on one address would bound nobody.
 */
export function holderOf(address: string): string {
  if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/${holderPrefixBits}`).toString()}/${holderPrefixBits}`
}

/**
 * The address in a hop of X-Forwarded-For, which other people's programs write: `address`, `address:port`, `[v6]` or
 * `[v6]:port`. Null for all else.
 */
export function addressOfHop(hop: string): string | null {
  const [, v4, v6] = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([^\]]+)\])(?::\d{1,5})?$/.exec(hop) ?? []
  if (v6 !== undefined) return isIPv6(v6) ? v6 : null
  const address = v4 ?? hop
  return isIP(address) === 0 ? null : address
}

/**
 * The caller's address: the socket's peer, or, where the peer is a proxy of ours, the rightmost X-Forwarded-For hop that is
 * not one. Hops further left were written by the caller and prove nothing. Where a hop is missing or unreadable, the nearest
 * address that we know is the proxy's own.
 */
export function callerAddress({
  ip,
  ips = [ip],
}: {
  readonly ip: string
  readonly ips?: string[] | undefined
}): string {
  return normaliseAddress(ips.flatMap((hop) => addressOfHop(hop) ?? []).at(-1) ?? '')
}

/** Whether the peer of a connection, or a hop before it, is a proxy of ours. */
export type IsTrusted = (address: string) => boolean

/**
 * Reads TRUSTED_PROXIES: addresses and CIDR ranges, separated by commas.
 * @throws {ConfigurationError} naming the entry that is neither, or that programs read in different ways
 */
export function trustedProxies(text: string): IsTrusted {
  const entries = text.split(',').flatMap((part) => part.trim() || [])
  for (const entry of entries)
    if (writtenRange(entry) === null)
      throw new ConfigurationError(`TRUSTED_PROXIES: not an address or CIDR range: ${entry}`)
  const ranges = new AddressRanges(entries)
  // The library alone would take a hop of octal numbers for another address.
  return (hop) => {
    const address = addressOfHop(hop)
    return address !== null && ranges.has(address)
  }
}
