import { playerStatuses } from '@backoffice/contracts'
import fc from 'fast-check'
import t from 'tap'
import { isLonger, isSelfExcluded, limitNow, selfExclude, setLimit } from '../../src/players/player.ts'

const now = new Date('2026-03-02T12:00:00.000Z')
const hours = (count: number) => new Date(now.getTime() + count * 3_600_000)
const none = { status: 'ativo', selfExcludedFrom: null, selfExcludedUntil: null } as const

t.test('an exclusion runs from its begin to its end, or for good', async (t) => {
  t.notOk(isSelfExcluded(none, now))
  t.ok(isSelfExcluded({ ...none, selfExcludedFrom: hours(-1) }, now), 'for good')
  t.ok(isSelfExcluded({ ...none, selfExcludedFrom: hours(-1), selfExcludedUntil: hours(1) }, now))
  t.notOk(isSelfExcluded({ ...none, selfExcludedFrom: hours(-2), selfExcludedUntil: now }, now), 'its end is over')
  t.ok(isSelfExcluded({ ...none, selfExcludedFrom: hours(1) }, now), 'by a clock that has gone back')
  for (const status of playerStatuses)
    t.equal(isSelfExcluded({ ...none, status }, now), status === 'autoexcluido', status)
})

t.test('a running exclusion can be made longer, never shorter', async (t) => {
  const running = { ...none, selfExcludedFrom: hours(-1), selfExcludedUntil: hours(10) }
  const forGood = { ...none, selfExcludedFrom: hours(-1) }
  t.ok(isLonger(running, hours(11), now))
  t.ok(isLonger(running, null, now))
  t.ok(isLonger(running, hours(10), now), 'the same end is no shorter')
  t.notOk(isLonger(running, hours(9), now))
  t.notOk(isLonger(forGood, hours(1_000), now))
  t.ok(isLonger(forGood, null, now))
  t.ok(isLonger(none, hours(1), now))
  t.notOk(isLonger(none, hours(-1), now), 'not into the past')
  t.ok(isLonger({ ...running, selfExcludedUntil: hours(-0.5) }, hours(1), now), 'one that has ended begins anew')
})

t.test('an exclusion that runs keeps its begin; one that has ended begins anew', async (t) => {
  const running = { ...none, selfExcludedFrom: hours(-1), selfExcludedUntil: hours(10) }
  const iso = (count: number) => hours(count).toISOString()
  const cases = [
    [none, hours(5), hours(0), null, iso(5)],
    [none, null, hours(0), null, 'for good'],
    [running, hours(11), hours(-1), iso(10), iso(11)],
    [{ ...running, selfExcludedUntil: now }, hours(11), hours(0), iso(0), iso(11)],
    [running, null, hours(-1), iso(10), 'for good'],
    [{ ...running, selfExcludedUntil: hours(-0.5) }, hours(1), hours(0), iso(-0.5), iso(1)],
    [{ ...running, selfExcludedUntil: null }, null, hours(-1), 'for good', 'for good'],
  ] as const
  for (const [player, until, from, previous, next] of cases) {
    t.strictSame(selfExclude(player, until, now), {
      player: { ...none, selfExcludedFrom: from, selfExcludedUntil: until },
      change: { field: 'selfExclusion', previous, next },
    })
  }
  t.throws(() => selfExclude(running, hours(9), now), { code: 'VALIDATION_ERROR' }, 'it is never made shorter')
})

const unlimited = { dailyDepositLimit: null, pendingLimit: null, pendingLimitFrom: null }
const after = (...change: Parameters<typeof setLimit>) => setLimit(...change).player

t.test('a first or lower limit holds at once; a higher one, or none, after 24 hours', async (t) => {
  const first = after(unlimited, 100n, now)
  t.equal(limitNow(first, now), 100n)
  const lower = after(first, 50n, now)
  t.equal(limitNow(lower, now), 50n)
  const raised = after(lower, 80n, now)
  t.equal(limitNow(raised, now), 50n)
  t.equal(limitNow(raised, hours(23.99)), 50n)
  t.equal(limitNow(raised, hours(24)), 80n)
  const removed = after(lower, null, now)
  t.equal(limitNow(removed, hours(23.99)), 50n)
  t.equal(limitNow(removed, hours(24)), null)
  t.equal(limitNow(after(raised, 40n, hours(1)), hours(30)), 40n, 'a lower wish replaces the raise that waits')
  t.equal(
    limitNow(after(raised, 90n, hours(25)), hours(25)),
    80n,
    'a raise that holds by now stays while the next one waits',
  )
})

t.test('no sequence of wishes loosens a limit within 24 hours', async (t) => {
  const wish = fc.oneof(fc.constant(null), fc.bigInt({ min: 1n, max: 1_000n }))
  fc.assert(
    fc.property(
      fc.array(fc.record({ wish, afterHours: fc.double({ min: 0, max: 3, noNaN: true }) }), { maxLength: 7 }),
      (wishes) => {
        let limit: Parameters<typeof setLimit>[0] = after(unlimited, 500n, now)
        let at = 0
        for (const { wish: wished, afterHours } of wishes) {
          const before = limitNow(limit, hours(at))
          at += afterHours
          limit = after(limit, wished, hours(at))
          const holds = limitNow(limit, hours(at))
          t.ok(holds !== null && before !== null && holds <= before)
        }
      },
    ),
  )
})
