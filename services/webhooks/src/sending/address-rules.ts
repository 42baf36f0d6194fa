import ipaddr from 'ipaddr.js'

/** Addresses in public ranges that lead to a cloud's own control plane. */
const controlPlane: ReadonlySet<string> = new Set(['168.63.129.16'])

/**
 * Whether an address may be sent to: a unicast address of the public internet. Refused are all addresses of this
 * machine, of private networks, of metadata services and of tunnels to them, and anything that is no address.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parse(address)
  if (parsed === null) return false
  if (parsed instanceof ipaddr.IPv4) return isPublicV4(parsed)
  // An address with the well-known NAT64 prefix contains an IPv4 address, to which the packet goes.
  if (parsed.match(wellKnownNat64)) return isPublicV4(embeddedV4(parsed))
  // Only IANA's range for global unicast. Addresses such as ::a.b.c.d, discard and site-local lie outside it.
  return parsed.match(globalUnicast) && parsed.range() === 'unicast'
}

/** 127.0.0.0/8 and ::1, in any spelling. */
export function isLoopbackAddress(address: string): boolean {
  return parse(address)?.range() === 'loopback'
}

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
const wellKnownNat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/** An IPv4-mapped IPv6 address is returned as the IPv4 address. */
function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const text = address.includes(':') ? withoutDots(address) : address
  return text !== null && ipaddr.isValid(text) ? ipaddr.process(text) : null
}

/**
 * An IPv6 address written in hexadecimal only. Null when it is not one, or has a zone, which names an interface of this
 * machine. This is needed because ipaddr.js reads `::1.2.3.4`, as resolvers write it, as a mapped address, which it is
 * not.
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
