import { BlockList, isIP } from 'node:net'
import { ConfigurationError } from '@backoffice/process'

/** Whether the peer of a connection is a proxy of ours. */
export type IsTrusted = (address: string) => boolean

const families = { 4: 'ipv4', 6: 'ipv6' } as const
const familyOf = (address: string) => families[isIP(address) as 4 | 6] as 'ipv4' | 'ipv6' | undefined

/**
 * Addresses and CIDR ranges, separated by commas.
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

function add(ranges: BlockList, entry: string): void {
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d+))?$/.exec(entry) ?? []
  const family = familyOf(address)
  const bits = family === 'ipv4' ? 32 : 128
  const length = prefix === undefined ? bits : Number(prefix)
  if (family === undefined || length > bits)
    throw new ConfigurationError(`TRUSTED_PROXIES: not an address or CIDR range: ${entry}`)
  ranges.addSubnet(address, length, family)
}
