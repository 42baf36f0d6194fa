import fc from 'fast-check'
import t from 'tap'
import {
  afterFailure,
  afterPause,
  afterSuccess,
  type Breaker,
  closedBreaker,
  failuresToOpen,
  isAtRest,
  mustBeDisabled,
} from '../../src/endpoints/endpoint.ts'

const settings = { concurrencyMax: 10, backoffBaseMs: 60_000 }
const now = new Date('2026-03-02T12:00:00.000Z')
const later = (ms: number) => new Date(now.getTime() + ms)
const fail = (breaker: Breaker, at = now) => afterFailure(breaker, settings, { now: at, random: 0.5 })
const failing = (times: number) =>
  Array.from({ length: times }).reduce<Breaker>((b) => fail(b), closedBreaker(settings))

t.test('a failing receiver gets fewer slots, and at the fifth failure in a row none', async (t) => {
  t.same(
    [1, 2, 3, 4].map((n) => failing(n).concurrency),
    [5, 2, 1, 1],
  )
  t.equal(failing(failuresToOpen - 1).state, 'closed')
  t.match(failing(failuresToOpen), { state: 'open', openUntil: later(30_000), failingSince: now })
})

t.test('one success forgets all failures of a closed breaker', async (t) => {
  t.same(afterSuccess(failing(3), settings), closedBreaker(settings))
})

t.test('after the pause one probe leaves; its failure opens again for twice as long, up to five bases', async (t) => {
  let breaker = failing(failuresToOpen)
  t.equal(afterPause(breaker, later(29_999)), breaker)
  const pauses: number[] = []
  let at = now
  for (let n = 0; n < 6; n++) {
    at = breaker.openUntil ?? at
    const probing = afterPause(breaker, at)
    t.match(probing, { state: 'recovering', concurrency: 1, openUntil: null })
    breaker = fail(probing, at)
    pauses.push((breaker.openUntil?.getTime() ?? 0) - at.getTime())
  }
  t.same(pauses, [60_000, 120_000, 240_000, 300_000, 300_000, 300_000])
})

t.test('recovery doubles what may be under way with every success, up to the full', async (t) => {
  let breaker = afterPause(failing(failuresToOpen), later(60_000))
  const steps: [string, number][] = []
  for (let n = 0; n < 4; n++) {
    breaker = afterSuccess(breaker, settings)
    steps.push([breaker.state, breaker.concurrency])
  }
  t.same(steps, [
    ['recovering', 2],
    ['recovering', 4],
    ['recovering', 8],
    ['closed', 10],
  ])
  t.ok(isAtRest(breaker))
})

t.test('a late success while open begins the recovery; a late failure changes nothing but the count', async (t) => {
  const open = failing(failuresToOpen)
  t.match(afterSuccess(open, settings), { state: 'recovering', concurrency: 1, openUntil: null, failingSince: null })
  t.same(fail(open), { ...open, consecutiveFailures: failuresToOpen + 1 })
})

t.test('an endpoint is disabled after days without one success, and only after a number of failures', async (t) => {
  const rule = { failingDays: 5, failuresMin: 20 }
  const dayMs = 24 * 3_600_000
  const sick = { ...failing(failuresToOpen), consecutiveFailures: 20 }
  t.notOk(mustBeDisabled(sick, rule, later(5 * dayMs - 1)))
  t.ok(mustBeDisabled(sick, rule, later(5 * dayMs)))
  t.notOk(mustBeDisabled({ ...sick, consecutiveFailures: 19 }, rule, later(9 * dayMs)))
  t.notOk(mustBeDisabled(closedBreaker(settings), rule, later(9 * dayMs)))
})

t.test(
  'whatever happens: slots stay between 1 and the maximum, only open has an end, and a success ends the failing',
  async () => {
    const step = fc.constantFrom('success', 'failure', 'pause' as const)
    fc.assert(
      fc.property(fc.array(fc.tuple(step, fc.nat(400_000))), (steps) => {
        let at = now
        let breaker = closedBreaker(settings)
        for (const [kind, ms] of steps) {
          at = new Date(at.getTime() + ms)
          if (kind === 'success') breaker = afterSuccess(breaker, settings)
          else if (kind === 'failure') breaker = fail(breaker, at)
          else breaker = afterPause(breaker, at)
          if (breaker.concurrency < 1 || breaker.concurrency > settings.concurrencyMax) return false
          if ((breaker.state === 'open') !== (breaker.openUntil !== null)) return false
          if (kind === 'success' && breaker.failingSince !== null) return false
        }
        return true
      }),
    )
  },
)
