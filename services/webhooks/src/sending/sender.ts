import type { LookupFunction } from 'node:net'
import { apiVersion } from '@backoffice/contracts'
import { Client, type Dispatcher } from 'undici'
import { type AttemptOutcome, isAcknowledged } from '../domain/attempt.ts'
import { DeadlineError, faultInWords, RefusedUrlError } from './fault-words.ts'
import { checkReceiverUrl, type SendingPolicy } from './receiver-url.ts'
import { checkedAddresses, type ResolveHost } from './resolve.ts'

/** How much of a response is read, and kept. */
export const responseHeadBytesMax = 1024
const responseHeaderBytesMax = 16 * 1024
/** How long the head of the body may take once the status is known. It is only for people to read. */
const responseHeadWaitMs = 1_000

export interface SenderOptions {
  readonly policy: SendingPolicy
  readonly resolve: ResolveHost
  /** For the whole attempt: resolving, connecting, sending and waiting for the response's status. */
  readonly deadlineMs: number
  /** Certificate authorities besides the well-known ones (tests). */
  readonly ca?: string
}

export interface SignedDelivery {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export type Send = (delivery: SignedDelivery) => Promise<AttemptOutcome>

/**
 * Makes one attempt to deliver. It never throws, because a fault is part of the outcome. Each attempt has a connection
 * of its own, to an address that was checked for this attempt; redirects are not followed, nothing is decompressed, and
 * reading the response is bounded in bytes and in time.
 */
export function createSender(options: SenderOptions): Send {
  return async (delivery) => {
    const startedAtMs = performance.now()
    try {
      const response = await withinDeadline(options.deadlineMs, (timer) => post(delivery, options, timer))
      return {
        ...response,
        durationMs: Math.round(performance.now() - startedAtMs),
        error: isAcknowledged(response.responseStatus) ? null : `The receiver answered ${response.responseStatus}.`,
      }
    } catch (error) {
      const durationMs = Math.round(performance.now() - startedAtMs)
      return { responseStatus: null, responseHead: null, durationMs, error: faultInWords(error) }
    }
  }
}

interface Timer {
  readonly signal: AbortSignal
  /** Called when the response is known, so that the deadline no longer matters. */
  stop(): void
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

interface ReceiverResponse {
  readonly responseStatus: number
  readonly responseHead: string
  readonly retryAfter: string | undefined
}

async function post(delivery: SignedDelivery, options: SenderOptions, timer: Timer): Promise<ReceiverResponse> {
  const { url, fault } = checkReceiverUrl(delivery.url, options.policy)
  if (fault !== null) throw new RefusedUrlError(fault)
  const addresses = await checkedAddresses(url, options.resolve, options.policy)
  timer.signal.throwIfAborted()
  const client = new Client(url.origin, {
    connect: {
      lookup: pinnedLookup(addresses),
      timeout: options.deadlineMs,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    },
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: responseHeaderBytesMax,
    headersTimeout: options.deadlineMs,
    bodyTimeout: options.deadlineMs,
  })
  try {
    const response = await client.request({
      method: 'POST',
      path: `${url.pathname}${url.search}`,
      headers: {
        'Content-Type': 'application/json',
        'Accept-Encoding': 'identity',
        'User-Agent': `operator-back-office-webhooks/${apiVersion}`,
        ...delivery.headers,
      },
      body: delivery.body,
      signal: timer.signal,
    })
    timer.stop()
    const retryAfter = response.headers['retry-after']
    return {
      responseStatus: response.statusCode,
      responseHead: await readHead(response.body),
      retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
    }
  } finally {
    // destroy(), not close(): close() would wait for a receiver that keeps the connection open.
    await client.destroy().catch(() => {})
  }
}

/** Connects the socket to the addresses that were checked, whatever the name resolves to by now. */
function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  return (_host, options, callback) => {
    const [first] = all
    if (options.all === true) callback(null, all)
    else if (first !== undefined) callback(null, first.address, first.family)
  }
}

/** The first KiB of the body as text. The status has arrived, so a body that is slow or breaks off changes nothing. */
async function readHead(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  // Breaking off is an error of the stream. Without a listener it would end the process.
  body.on('error', () => {})
  const timer = setTimeout(() => body.destroy(), responseHeadWaitMs)
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, responseHeadBytesMax - bytes))
      bytes += chunk.length
      if (bytes >= responseHeadBytesMax) break
    }
  } catch {
    // What has arrived by then is kept.
  } finally {
    clearTimeout(timer)
    body.destroy()
  }
  // PostgreSQL cannot store NUL in text.
  return Buffer.concat(chunks).toString('utf8').replaceAll('\u0000', '\uFFFD')
}
