// Rules: they read nothing but what they are given.

import { isIP, isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number]

/**
 * An address or a CIDR range; IPv4-mapped IPv6 counts as IPv4. Null when it is neither. The library also reads what
 * others read differently: octal parts (`010.1.2.3` is 8.1.2.3), and addresses of fewer than four parts (`1` is 0.0.0.1).
 */
function parseRange(text: string): Range | null {
  try {
    if (text.includes('/')) {
      const [address, prefix] = ipaddr.parseCIDR(text)
      const mapped = address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress()
      if (!mapped) return [address, prefix]
      return prefix < 96 ? null : [(address as ipaddr.IPv6).toIPv4Address(), prefix - 96]
    }
    const address = ipaddr.process(text)
    return [address, bitsOf(address)]
  } catch {
    return null
  }
}

const bitsOf = (address: ipaddr.IPv4 | ipaddr.IPv6): number => (address.kind() === 'ipv4' ? 32 : 128)

/** Whether an address, or that of a range, can be read in one way only: IPv4 as four decimal numbers. */
function isUnambiguous(text: string): boolean {
  const [address = '', prefix = '0'] = text.split('/')
  const ipv4 = address.slice(address.lastIndexOf(':') + 1)
  const isIpv4 = !address.includes(':') || ipv4.includes('.')
  return /^(0|[1-9]\d*)$/.test(prefix) && (!isIpv4 || ipaddr.IPv4.isValidFourPartDecimal(ipv4))
}

/**
 * A range as its first address and its length, such as 10.0.0.0/8; an address of its own without a length. Null for what is
 * neither, or what programs read in different ways.
 */
export function writtenRange(text: string): string | null {
  const range = isUnambiguous(text) ? parseRange(text) : null
  if (range === null) return null
  const [address, prefix] = range
  if (prefix === bitsOf(address)) return address.toString()
  const cidr = `${address.toString()}/${prefix}`
  const first = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6
  return `${first.networkAddressFromCIDR(cidr).toString()}/${prefix}`
}

/** A set of addresses given as CIDR ranges. */
export class AddressRanges {
  readonly #ranges: readonly Range[]

  /**
   * Reads what was stored before ranges were normalised as it was always read, so that nobody is locked out.
   * @throws {RangeError} naming the entry that is no address and no range
   */
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

  /** Whether a range lies in one of these. */
  covers(range: string): boolean {
    const [address, length] = parseRange(range) ?? []
    if (address === undefined || length === undefined) return false
    return this.#ranges.some(
      ([network, prefix]) =>
        network.kind() === address.kind() && length >= prefix && address.match([network, prefix] as never),
    )
  }

  has(address: string): boolean {
    if (this.isEmpty || !ipaddr.isValid(address)) return false
    const parsed = ipaddr.process(address)
    return this.#ranges.some(
      ([network, prefix]) => network.kind() === parsed.kind() && parsed.match([network, prefix] as never),
    )
  }
}

/** One way to write an address. */
export function normaliseAddress(address: string): string {
  // Node takes four decimal numbers only, and those have one spelling.
  if (isIPv4(address)) return address
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address
}

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
