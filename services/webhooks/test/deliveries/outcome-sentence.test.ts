import t from 'tap'
import { duration, outcomeSentence, type StoryFacts } from '../../src/deliveries/delivery.ts'

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
