import ipaddr from 'ipaddr.js'

/** Public by their range, but they lead to the cloud's own control plane. */
const controlPlane: ReadonlySet<string> = new Set(['168.63.129.16'])

/**
 * Whether an address may be sent to: a unicast address of the public internet. Everything that means this machine, this
 * network, a cloud's metadata service or a tunnel to them is refused, and so is what is not an address at all.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parse(address)
  if (parsed === null) return false
  if (parsed instanceof ipaddr.IPv4) return isPublicV4(parsed)
  // Behind the well-known NAT64 prefix stands an IPv4 address, which is where the packet goes.
  if (parsed.match(wellKnownNat64)) return isPublicV4(embeddedV4(parsed))
  // Only what IANA has given out for global unicast: ::a.b.c.d, discard, site-local and the rest lie outside of it.
  return parsed.match(globalUnicast) && parsed.range() === 'unicast'
}

/** 127.0.0.0/8 and ::1, in any spelling. */
export function isLoopbackAddress(address: string): boolean {
  return parse(address)?.range() === 'loopback'
}

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
const wellKnownNat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/** IPv4-mapped IPv6 addresses come out as the IPv4 addresses that they are. */
function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const text = address.includes(':') ? withoutDots(address) : address
  return text !== null && ipaddr.isValid(text) ? ipaddr.process(text) : null
}

/**
 * An IPv6 address in hexadecimal throughout; null when it is none, or has a zone, which names an interface of this machine.
 * ipaddr.js would take `::1.2.3.4`, as resolvers write it, for the mapped address that it is not.
 */
function withoutDots(address: string): string | null {
  return URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1) ?? null
}

function isPublicV4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !controlPlane.has(address.toString())
}

function embeddedV4(address: ipaddr.IPv6): ipaddr.IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(12))
}
