import { BlockList, isIP } from 'node:net'
import { ConfigurationError } from '@backoffice/service-runtime/standalone'

/** Whether the peer of a connection is a proxy of ours. */
export type IsTrusted = (address: string) => boolean

/**
 * Addresses and CIDR ranges, separated by commas.
 * @throws {ConfigurationError} naming the entry that is neither
 */
export function trustedProxies(text: string): IsTrusted {
  const ranges = new BlockList()
  for (const entry of text.split(',').map((part) => part.trim())) {
    if (entry === '') continue
    const [address = '', prefix] = entry.split('/')
    const family = familyOf(address)
    if (family === undefined) throw new ConfigurationError(`TRUSTED_PROXIES: not an address or CIDR range: ${entry}`)
    try {
      if (prefix === undefined) ranges.addAddress(address, family)
      else ranges.addSubnet(address, Number(prefix), family)
    } catch {
      throw new ConfigurationError(`TRUSTED_PROXIES: not an address or CIDR range: ${entry}`)
    }
  }
  return (address) => {
    const family = familyOf(address)
    return family !== undefined && ranges.check(address, family)
  }
}

const familyOf = (address: string) => (({ 4: 'ipv4', 6: 'ipv6' }) as const)[isIP(address)]
