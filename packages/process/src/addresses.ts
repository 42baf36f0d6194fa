import { BlockList, isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
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

const families = { 4: 'ipv4', 6: 'ipv6' } as const
const familyOf = (address: string) => families[isIP(address) as 4 | 6] as 'ipv4' | 'ipv6' | undefined

/**
 * Reads TRUSTED_PROXIES: addresses and CIDR ranges, separated by commas. What programs read in different ways, such as
 * 010.0.0.1, is neither.
 * @throws {ConfigurationError} naming the entry that is neither
 */
export function trustedProxies(text: string): IsTrusted {
  const ranges = new BlockList()
  const entries = text.split(',').map((part) => part.trim())
  for (const entry of entries) if (entry !== '') add(ranges, entry)
  return (address) => {
    const family = familyOf(address)
    return family !== undefined && ranges.check(address, family)
  }
}

const mappedPrefix = '::ffff:'

function add(ranges: BlockList, entry: string): void {
  const [, address = '', prefix] = /^([^/]+)(?:\/(0|[1-9]\d*))?$/.exec(entry) ?? []
  const isMapped = address.toLowerCase().startsWith(mappedPrefix) && address.includes('.')
  const [written, shift] = isMapped ? [address.slice(mappedPrefix.length), 96] : [address, 0]
  const family = familyOf(written)
  const bits = family === 'ipv4' ? 32 : 128
  const length = prefix === undefined ? bits : Number(prefix) - shift
  if (family === undefined || length < 0 || length > bits)
    throw new ConfigurationError(`TRUSTED_PROXIES: not an address or CIDR range: ${entry}`)
  ranges.addSubnet(written, length, family)
}
