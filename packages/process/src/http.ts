import { holderOf } from './addresses.ts'

const minuteMs = 60_000
/** Whoever has more addresses than this is not stopped by a bound per address. */
const addressesMax = 10_000
const noHeaders = { 'x-ratelimit-limit': false, 'x-ratelimit-remaining': false, 'x-ratelimit-reset': false }

/**
 * Options of `@fastify/rate-limit`: what an address (IPv6: a /64) sends beyond its requests a minute is refused with 429
 * and Retry-After, before anything is read. The app's error handler says so in its own words.
 */
export const requestLimit = (requestsPerMinute: number) => ({
  max: requestsPerMinute,
  timeWindow: minuteMs,
  cache: addressesMax,
  keyGenerator: ({ ip }: { readonly ip: string }): string => holderOf(ip),
  addHeaders: { ...noHeaders, 'retry-after': true },
  addHeadersOnExceeding: noHeaders,
  errorResponseBuilder: () => Object.assign(new Error('limited'), { statusCode: 429 }),
})
