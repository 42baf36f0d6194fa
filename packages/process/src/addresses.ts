import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { AddressRanges, writtenRange } from './address-ranges.ts'
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

/** Whether the peer of a connection is a proxy of ours. */
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
  return (address) => isIP(address) !== 0 && ranges.has(address)
}
