import ipaddr from 'ipaddr.js'

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
