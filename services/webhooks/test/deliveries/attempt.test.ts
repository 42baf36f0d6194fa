import t from 'tap'
import { type AttemptedDelivery, recordedChange } from '../../src/deliveries/delivery.ts'

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
