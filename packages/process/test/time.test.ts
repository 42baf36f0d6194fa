import t from 'tap'
import { retry, systemTimers, type Timers } from '../src/time.ts'

/** Fails so often, and counts. */
function failing(times: number) {
  let runs = 0
  return { runs: () => runs, run: async () => (++runs <= times ? Promise.reject(new Error(`fault ${runs}`)) : runs) }
}

t.test('it runs until it succeeds, and the last fault is thrown when no attempt is left', async (t) => {
  const told: number[] = []
  const twice = failing(2)
  const taken = await retry(twice.run, { attemptsMax: 3, while: (_, attempt) => told.push(attempt) > 0 })
  t.equal(taken, 3)
  t.same(told, [1, 2])
  const often = failing(9)
  await t.rejects(retry(often.run, { attemptsMax: 3, while: () => true }), { message: 'fault 3' })
  t.equal(often.runs(), 3)
})

t.test('what does not pass is thrown at once', async (t) => {
  const once = failing(1)
  await t.rejects(retry(once.run, { while: () => false }), { message: 'fault 1' })
  t.equal(once.runs(), 1)
})

t.test('no attempt begins after the time is over', async (t) => {
  const always = failing(Number.POSITIVE_INFINITY)
  let ms = 0
  const timers: Timers = {
    ...systemTimers,
    monotonic: () => ms,
    setTimeout(run, pauseMs) {
      ms += pauseMs
      return setImmediate(run)
    },
  }
  await t.rejects(retry(always.run, { while: () => true, pauseMs: 20, untilMs: 70, timers }))
  t.equal(always.runs(), 4)
})
