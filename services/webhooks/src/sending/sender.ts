import { lookup, Resolver } from 'node:dns/promises'
import { apiVersion } from '@backoffice/contracts'
import { durations, patiently } from '@backoffice/process'
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import ipaddr from 'ipaddr.js'
import { type AttemptOutcome, isAcknowledged } from '../deliveries/delivery.ts'
import { Connections, type ConnectionsOptions, type ReceiverResponse, type Timer } from './connections.ts'
import { ConnectionLost, DeadlineError, faultInWords, RefusedAddressError, RefusedUrlError } from './fault-words.ts'

export interface SenderOptions extends ConnectionsOptions {
  readonly policy: SendingPolicy
  readonly resolve: ResolveHost
}

export interface SignedDelivery {
  readonly endpointId: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export type Send = (delivery: SignedDelivery) => Promise<AttemptOutcome>

/**
 * Makes one attempt to deliver. It never throws, because a fault is part of the outcome. It goes over a connection of the
 * endpoint to an address that was checked for this attempt; redirects are not followed, nothing is decompressed, and
 * reading the response is bounded in bytes and in time.
 */
export function createSender(options: SenderOptions): Send {
  const connections = new Connections(options)
  return async (delivery) => {
    const startedAtMs = performance.now()
    try {
      const response = await withinDeadline(options.deadlineMs, (timer) =>
        post(delivery, { ...options, connections }, timer),
      )
      return {
        ...response,
        durationMs: Math.round(performance.now() - startedAtMs),
        error: isAcknowledged(response.responseStatus) ? null : `The receiver answered ${response.responseStatus}.`,
      }
    } catch (error) {
      const durationMs = Math.round(performance.now() - startedAtMs)
      const connectionLost = error instanceof ConnectionLost
      return { responseStatus: null, responseHead: null, durationMs, error: faultInWords(error), connectionLost }
    }
  }
}

/** Ends an attempt at its deadline. An idle time-out would not do, because a slow trickle of bytes is never idle. */
async function withinDeadline<T>(deadlineMs: number, run: (timer: Timer) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const { promise: deadline, reject } = Promise.withResolvers<never>()
  const timeout = setTimeout(() => {
    const expired = new DeadlineError(deadlineMs)
    reject(expired)
    controller.abort(expired)
  }, deadlineMs)
  const stop = () => clearTimeout(timeout)
  try {
    return await Promise.race([run({ signal: controller.signal, stop }), deadline])
  } finally {
    stop()
  }
}

async function post(
  { endpointId, url: text, headers, body }: SignedDelivery,
  { policy, resolve, connections }: SenderOptions & { readonly connections: Connections },
  timer: Timer,
): Promise<ReceiverResponse> {
  const { url, fault } = checkReceiverUrl(text, policy)
  if (fault !== null) throw new RefusedUrlError(fault)
  const { origin, pathname, search } = url
  const addresses = await checkedAddresses(url, resolve, policy).catch((error) => {
    connections.closeAll(endpointId)
    throw error
  })
  const request = { path: `${pathname}${search}`, headers: { ...fixedHeaders, ...headers }, body }
  return connections.post({ endpointId, origin, addresses }, request, timer)
}

const fixedHeaders = {
  'Content-Type': 'application/json',
  'Accept-Encoding': 'identity',
  'User-Agent': `operator-back-office-webhooks/${apiVersion}`,
}

/** Finds all addresses of a host name. */
export type ResolveHost = (host: string) => Promise<string[]>

const queryTimeoutMs = 2_000
const queryTries = 2
/** No honest host has a longer list. */
const addressesMax = 32

/**
 * Asks the name servers directly, without blocking. The system's resolver has four threads, and a few names whose
 * servers are silent would hold all of them.
 */
export function nameServerResolver(): ResolveHost {
  const resolver = new Resolver({ timeout: patiently(queryTimeoutMs), tries: queryTries })
  return async (host) => {
    const replies = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = replies.flatMap((reply) => (reply.status === 'fulfilled' ? reply.value : []))
    if (addresses.length > 0) return addresses
    throw (replies[0] as PromiseRejectedResult).reason
  }
}

/** For development: knows the names of /etc/hosts too. */
export const systemResolver: ResolveHost = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address)

/**
 * The addresses to which a request to `url` may go. If one address is not allowed, the host is refused: a real receiver
 * does not mix private and public addresses.
 * @throws {RefusedAddressError} or the resolver's own error
 */
export async function checkedAddresses(url: URL, resolve: ResolveHost, policy: SendingPolicy): Promise<string[]> {
  const host = hostOf(url)
  const addresses = (isAddress(url) ? [host] : await resolve(host)).slice(0, addressesMax)
  const isAllowed = (address: string) =>
    (isPublicAddress(address) && url.protocol === 'https:') || (policy.allowLoopback && isLoopbackAddress(address))
  const refused = addresses.filter((address) => !isAllowed(address))
  if (refused.length > 0 || addresses.length === 0) throw new RefusedAddressError(refused)
  return addresses
}

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
function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
}

/** The URL parser has already normalised every spelling of an IPv4 address (0x7f.1, 2130706433). */
function isAddress(url: URL): boolean {
  return url.hostname.startsWith('[') || /^\d+(\.\d+){3}$/.test(url.hostname)
}

function isLoopbackHost(host: string): boolean {
  return /^([^.]+\.)*localhost\.?$/.test(host) || isLoopbackAddress(host)
}

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

const tracer = trace.getTracer('webhooks')
const attemptDuration = durations(
  'backoffice.delivery.attempt.duration_seconds',
  'Time of one attempt to deliver a webhook',
)

export interface ObservedAttempt {
  readonly traceParent: string | null
  readonly deliveryId: string
  readonly eventId: string
  readonly number: number
}

/** Measures an attempt and runs it as a span of its event's trace, however much later it is. */
export function observeAttempt(attempt: ObservedAttempt, run: () => Promise<AttemptOutcome>): Promise<AttemptOutcome> {
  const { traceParent, deliveryId, eventId, number } = attempt
  const parent = propagation.extract(context.active(), traceParent === null ? {} : { traceparent: traceParent })
  const attributes = {
    ...{ 'delivery.id': deliveryId, 'event.id': eventId, 'delivery.attempt': number },
    'http.request.method': 'POST',
  }
  return tracer.startActiveSpan('deliver webhook', { kind: SpanKind.CLIENT, attributes }, parent, async (span) => {
    try {
      const outcome = await run()
      const { error, durationMs, responseStatus } = outcome
      if (responseStatus !== null) span.setAttribute('http.response.status_code', responseStatus)
      if (error !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: error })
      attemptDuration.record(durationMs / 1_000, { outcome: error === null ? 'delivered' : 'failed' })
      return outcome
    } finally {
      span.end()
    }
  })
}
