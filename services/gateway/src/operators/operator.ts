// Rules.

import { Rejection } from '@backoffice/contracts'
import ipaddr from 'ipaddr.js'

/** What the team changes about an operator. */
export interface OperatorTerms {
  readonly rateLimitPerMinute: number
  /** Empty: any address. */
  readonly allowedAddresses: readonly string[]
  readonly suspendedAt: Date | null
  /** Whether a signature is accepted for one request only. */
  readonly replayProtection: boolean
}

/** Suspending an operator again keeps the time of the first suspension. */
export const suspend = (terms: OperatorTerms, now: Date): OperatorTerms => ({
  ...terms,
  suspendedAt: terms.suspendedAt ?? now,
})

export const activate = (terms: OperatorTerms): OperatorTerms => ({ ...terms, suspendedAt: null })

export const protectFromReplays = (terms: OperatorTerms, replayProtection: boolean): OperatorTerms => ({
  ...terms,
  replayProtection,
})

/** Changes the limits that are given, and nothing else. */
export const changeLimits = (
  terms: OperatorTerms,
  limits: {
    readonly rateLimitPerMinute?: number | undefined
    readonly allowedAddresses?: readonly string[] | undefined
  },
): OperatorTerms => ({
  ...terms,
  rateLimitPerMinute: limits.rateLimitPerMinute ?? terms.rateLimitPerMinute,
  allowedAddresses: limits.allowedAddresses ?? terms.allowedAddresses,
})

/**
 * When a key is revoked: now, unless it was before. The last active key of an environment cannot be revoked. To stop an
 * operator, suspend it.
 * @param activeKeys of the key's environment, itself included while it is active
 * @throws {Rejection} CREDENTIAL_LAST_ACTIVE
 */
export function revokedAt(before: Date | null, activeKeys: number, now: Date): Date {
  if (before !== null) return before
  if (activeKeys <= 1) throw new Rejection('CREDENTIAL_LAST_ACTIVE')
  return now
}

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

/** A range as its first address and its length, such as 10.0.0.0/8; an address of its own without a length. */
function writtenRange([address, prefix]: Range): string {
  if (prefix === bitsOf(address)) return address.toString()
  const text = `${address.toString()}/${prefix}`
  const first = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6
  return `${first.networkAddressFromCIDR(text).toString()}/${prefix}`
}

/**
 * Ranges as they are stored and shown: one way to write each, so that a person sees what a range really means.
 * @throws {Rejection} VALIDATION_ERROR naming each entry that is neither an address nor a CIDR range
 */
export function normaliseRanges(allowedAddresses: readonly string[]): string[] {
  const ranges = allowedAddresses.map((entry) => (isUnambiguous(entry) ? parseRange(entry) : null))
  const issues = ranges.flatMap((range, index) =>
    range === null
      ? [
          {
            path: `/allowedAddresses/${index}`,
            message: 'must be an address or a CIDR range, and IPv4 four decimal numbers',
          },
        ]
      : [],
  )
  if (issues.length > 0) throw new Rejection('VALIDATION_ERROR', { in: 'body', issues })
  return ranges.flatMap((range) => (range === null ? [] : writtenRange(range)))
}

/** Whether ranges permit what those before did not. An empty list permits any address; each range must lie in one of before. */
export function isWidened(before: readonly string[], after: readonly string[]): boolean {
  const permitted = new AddressRanges(before)
  return !permitted.isEmpty && (after.length === 0 || !after.every((range) => permitted.covers(range)))
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
    if (!ipaddr.isValid(address)) return false
    const parsed = ipaddr.process(address)
    return this.#ranges.some(
      ([network, prefix]) => network.kind() === parsed.kind() && parsed.match([network, prefix] as never),
    )
  }
}

/** One way to write an address. */
export function normalise(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address
}
