import { Rejection } from '@backoffice/contracts'
import ipaddr from 'ipaddr.js'

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number]

/** An address or a CIDR range; IPv4-mapped IPv6 counts as IPv4. Null when it is neither. */
function parseRange(text: string): Range | null {
  try {
    if (text.includes('/')) {
      const [address, prefix] = ipaddr.parseCIDR(text)
      const mapped = address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress()
      if (!mapped) return [address, prefix]
      return prefix < 96 ? null : [(address as ipaddr.IPv6).toIPv4Address(), prefix - 96]
    }
    const address = ipaddr.process(text)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  } catch {
    return null
  }
}

/** @throws {Rejection} VALIDATION_ERROR naming each entry that is neither an address nor a CIDR range */
export function requireRanges(allowedAddresses: readonly string[]): void {
  const issues = allowedAddresses.flatMap((entry, index) =>
    parseRange(entry) === null
      ? [{ path: `/allowedAddresses/${index}`, message: 'must be an address or a CIDR range' }]
      : [],
  )
  if (issues.length > 0) throw new Rejection('VALIDATION_ERROR', { in: 'body', issues })
}

/** A set of addresses given as CIDR ranges. */
export class AddressRanges {
  readonly #ranges: readonly Range[]

  /** @throws {RangeError} naming the entry that is no address and no range */
  constructor(entries: readonly string[]) {
    this.#ranges = entries.map((entry) => {
      const range = parseRange(entry)
      if (range === null) throw new RangeError(`not an address or CIDR range: ${entry}`)
      return range
    })
  }

  get isEmpty(): boolean {
    return this.#ranges.length === 0
  }

  has(address: string): boolean {
    if (!ipaddr.isValid(address)) return false
    const parsed = ipaddr.process(address)
    return this.#ranges.some(
      ([network, prefix]) => network.kind() === parsed.kind() && parsed.match([network, prefix] as never),
    )
  }
}

/**
 * The caller's address: the socket's peer, or, where the peer is a trusted proxy, the rightmost X-Forwarded-For hop that
 * is not one. Hops further left were written by the caller and prove nothing.
 */
export function callerAddress({
  peer,
  forwardedFor,
  trustedProxies,
}: {
  readonly peer: string
  readonly forwardedFor: string | undefined
  readonly trustedProxies: AddressRanges
}): string {
  let address = normalise(peer)
  const hops = (forwardedFor ?? '').split(',').map((hop) => hop.trim())
  while (trustedProxies.has(address)) {
    const hop = hops.pop()
    // A missing or unreadable hop: the nearest address that we know is the proxy's own.
    if (hop === undefined || !ipaddr.isValid(hop)) return address
    address = normalise(hop)
  }
  return address
}

function normalise(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address
}
