import fc from 'fast-check'
import t from 'tap'
import {
  type AttemptedDelivery,
  backoffBaseDefaultMs,
  duration,
  outcomeSentence,
  parseRetryAfterMs,
  recordedChange,
  retryAfterMaxMs,
  retryDelayMs,
  type StoryFacts,
} from '../../src/deliveries/delivery.ts'

const now = new Date('2026-03-02T12:00:00.000Z')
const earlier = new Date('2026-03-02T11:00:00.000Z')
const given = { baseMs: 60_000, now, random: 0.5 }
const ok = { error: null }
const failed = { error: 'The receiver answered 500.' }
const pending = { state: 'pending', nextAttemptAt: earlier, finishedAt: null } as const
const withheld = { state: 'withheld', nextAttemptAt: null, finishedAt: earlier } as const
const delivered = { state: 'delivered', nextAttemptAt: null, finishedAt: earlier } as const

const after = (
  delivery: Omit<AttemptedDelivery, 'attemptsMade'>,
  outcome: { error: string | null },
  attemptsMade = 0,
) => recordedChange({ ...delivery, attemptsMade }, outcome, given)

t.test('a 2xx counts whenever it is learnt, whoever holds the delivery', async (t) => {
  for (const delivery of [pending, withheld])
    for (const held of [true, false]) t.same(after({ ...delivery, held }, ok), { ...delivered, finishedAt: now })
  t.same(after({ ...delivered, held: false }, ok), delivered, 'the first time stays the time')
})

t.test('a failure counts while its lease holds the delivery, and else is only logged', async (t) => {
  const next = new Date(now.getTime() + 60_000)
  t.same(after({ ...pending, held: true }, failed), { ...pending, nextAttemptAt: next })
  t.same(after({ ...pending, held: true }, failed, 7), { state: 'failed', nextAttemptAt: null, finishedAt: now })
  for (const delivery of [pending, withheld, delivered]) t.equal(after({ ...delivery, held: false }, failed), null)
})

t.test('what was withheld while the attempt was under way stays so', async (t) => {
  t.same(after({ ...withheld, held: true }, failed), withheld)
})

const minuteMs = 60_000
const question = { baseMs: backoffBaseDefaultMs, retryAfterMs: null, random: 0.5 }

t.test('the waits are 1, 3, 9, 27, 81, 243 and 729 minutes: about a day in all', async (t) => {
  const waits = [1, 2, 3, 4, 5, 6, 7].map(
    (attemptsMade) => (retryDelayMs({ ...question, attemptsMade }) ?? 0) / minuteMs,
  )
  t.same(waits, [1, 3, 9, 27, 81, 243, 729])
  t.ok(waits.reduce((a, b) => a + b) / 60 > 18)
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
  for (const date of ['Monday, 02-Mar-26 12:01:00 GMT', 'Mon Mar  2 12:01:00 2026', 'Mon Mar 02 12:01:00 2026'])
    t.equal(parseRetryAfterMs(date, now), 60_000, date)
  t.equal(parseRetryAfterMs('Saturday, 02-Mar-76 12:00:00 GMT', now), Date.UTC(2076, 2, 2, 12) - now.getTime())
  t.equal(parseRetryAfterMs('Wednesday, 02-Mar-77 12:00:00 GMT', now), 0, 'of 1977')
  for (const nonsense of [
    '-5',
    'soon',
    '1e9',
    '',
    '2026-03-02',
    '12.5',
    'Mon, 02 Xyz 2026 12:01:00 GMT',
    'Mon Mar 2 2026',
  ])
    t.equal(parseRetryAfterMs(nonsense, now), null)
  t.equal(parseRetryAfterMs(undefined, now), null)
})

const created = new Date('2026-03-02T12:00:00.000Z')
const at = (ms: number) => new Date(created.getTime() + ms)
const facts: StoryFacts = {
  state: 'pending',
  attempts: 0,
  eventCreatedAt: created,
  finishedAt: null,
  nextAttemptAt: at(0),
  lastError: null,
  pausedBecause: null,
  now: at(1000),
}

t.test('each state has its sentence', async (t) => {
  const error = 'The receiver answered 500.'
  const rows: [Partial<StoryFacts>, string][] = [
    [
      { state: 'delivered', attempts: 3, finishedAt: at(252_000) },
      'Delivered on attempt 3, 4 min 12 s after the event.',
    ],
    [{}, 'Not tried yet; the next attempt is due now.'],
    [
      { attempts: 1, nextAttemptAt: at(61_000), lastError: error },
      `Tried once; the next attempt is due in 1 min. The last one: ${error}`,
    ],
    [
      { attempts: 8, state: 'failed', finishedAt: at(65_580_000), lastError: error },
      `Given up after 8 attempts, 18 h 13 min after the event. The last one: ${error}`,
    ],
    [{ attempts: 2, pausedBecause: 'the receiver is left alone' }, 'Tried 2 times; the receiver is left alone.'],
    [{ state: 'withheld' }, 'Not sent: no URL was set, or the endpoint was disabled. A resend or a replay sends it.'],
  ]
  for (const [overrides, sentence] of rows) t.equal(outcomeSentence({ ...facts, ...overrides }), sentence)
})

t.test('a duration has its two largest units', async (t) => {
  t.same(
    [0, 37, 1500, 61_000, 3_660_000, 90_061_000].map((ms) => duration(created, at(ms))),
    ['0 ms', '37 ms', '1 s', '1 min 1 s', '1 h 1 min', '1 d 1 h'],
  )
})
