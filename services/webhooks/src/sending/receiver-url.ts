import { isLoopbackAddress, isPublicAddress } from './address-rules.ts'

/** Where deliveries may go. */
export interface SendingPolicy {
  /** Development only: plain http and https to this machine. Public receivers stay https only. */
  readonly allowLoopback: boolean
}

export type CheckedUrl = { readonly url: URL; readonly fault: null } | { readonly url: null; readonly fault: string }

const refuse = (fault: string): CheckedUrl => ({ url: null, fault })

/** Checks whether a URL may be a receiver's by its text alone. Its addresses are checked at every attempt. */
export function checkReceiverUrl(text: string, policy: SendingPolicy): CheckedUrl {
  const url = URL.parse(text)
  if (url === null) return refuse('The URL cannot be read.')
  if (url.username !== '' || url.password !== '') return refuse('The URL must not carry a user name or a password.')
  if (url.hash !== '') return refuse('The URL must not carry a fragment.')
  const host = hostOf(url)
  if (policy.allowLoopback && isLoopbackHost(host)) {
    return url.protocol === 'http:' || url.protocol === 'https:'
      ? { url, fault: null }
      : refuse('The URL must use https.')
  }
  if (url.protocol !== 'https:') return refuse('The URL must use https.')
  // So that nobody's mail or database server is spoken to in our name. The parser leaves 443 out.
  if (url.port !== '' && url.port !== '8443') return refuse('The port of the URL must be 443 or 8443.')
  if (isLoopbackHost(host)) return refuse('The URL leads to this machine.')
  if (isAddress(url) && !isPublicAddress(host)) return refuse('The address of the URL is not a public one.')
  return { url, fault: null }
}

/** The host as the resolver needs it: an IPv6 address has no brackets. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
}

/** The URL parser has already normalised every spelling of an IPv4 address (0x7f.1, 2130706433). */
export function isAddress(url: URL): boolean {
  return url.hostname.startsWith('[') || /^\d+(\.\d+){3}$/.test(url.hostname)
}

function isLoopbackHost(host: string): boolean {
  return /^([^.]+\.)*localhost\.?$/.test(host) || isLoopbackAddress(host)
}
