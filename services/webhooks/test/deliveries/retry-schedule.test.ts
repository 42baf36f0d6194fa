import { webhookAttemptsMax } from '@backoffice/contracts'
import fc from 'fast-check'
import t from 'tap'
import {
  backoffBaseDefaultMs,
  parseRetryAfterMs,
  retryAfterMaxMs,
  retryDelayMs,
} from '../../src/deliveries/delivery.ts'

const minuteMs = 60_000
const question = { baseMs: backoffBaseDefaultMs, retryAfterMs: null, random: 0.5 }

t.test('the waits are 1, 3, 9, 27, 81, 243 and 729 minutes: about a day in all', async (t) => {
  const waits = [1, 2, 3, 4, 5, 6, 7].map(
    (attemptsMade) => (retryDelayMs({ ...question, attemptsMade }) ?? 0) / minuteMs,
  )
  t.same(waits, [1, 3, 9, 27, 81, 243, 729])
  t.ok(waits.reduce((a, b) => a + b) / 60 > 18)
})

t.test('the eighth failure is the last', async (t) => {
  t.not(retryDelayMs({ ...question, attemptsMade: webhookAttemptsMax - 1 }), null)
  t.equal(retryDelayMs({ ...question, attemptsMade: webhookAttemptsMax }), null)
})

t.test('jitter stays within a fifth either way, and every wait is longer than the one before', async () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (attemptsMade, random, other) => {
        const delayMs = retryDelayMs({ ...question, attemptsMade, random }) ?? 0
        const planned = minuteMs * 3 ** (attemptsMade - 1)
        const next = retryDelayMs({ ...question, attemptsMade: attemptsMade + 1, random: other }) ?? 0
        return delayMs >= 0.799 * planned && delayMs <= 1.201 * planned && next > delayMs
      },
    ),
  )
})

t.test('Retry-After lengthens a wait up to an hour, and never shortens one', async () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 7 }), fc.maxSafeNat(), (attemptsMade, retryAfterMs) => {
      const without = retryDelayMs({ ...question, attemptsMade }) ?? 0
      const delayMs = retryDelayMs({ ...question, attemptsMade, retryAfterMs }) ?? 0
      return delayMs >= without && delayMs <= Math.max(without, retryAfterMaxMs)
    }),
  )
})

t.test('Retry-After is seconds or an HTTP date, and anything else is ignored', async (t) => {
  const now = new Date('2026-03-02T12:00:00.000Z')
  t.equal(parseRetryAfterMs('120', now), 120_000)
  t.equal(parseRetryAfterMs('Mon, 02 Mar 2026 12:01:00 GMT', now), 60_000)
  t.equal(parseRetryAfterMs('Mon, 02 Mar 2026 11:00:00 GMT', now), 0)
  for (const nonsense of ['-5', 'soon', '1e9', '', '2026-03-02', '12.5'])
    t.equal(parseRetryAfterMs(nonsense, now), null)
  t.equal(parseRetryAfterMs(undefined, now), null)
})
