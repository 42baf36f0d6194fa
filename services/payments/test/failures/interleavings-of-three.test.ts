// proof: random orders of three calls, and all pairs, of which interleavings.test.ts draws a third.
// In a process of its own: its calls are given up much later.

import fc from 'fast-check'
import t from 'tap'
import { type Choose, goOn, Interleavings, orderOf } from './interleavings.ts'
import { callsOf, stepNames } from './money-races.ts'

/** How many times three calls are put in a random order. */
const runs = Number(process.env.THREES_RUNS ?? 25)
if (runs > 25) t.setTimeout(3_600_000)

const interleavings = await Interleavings.start(t, 3)
process.env.EVERY_CASE = 'true'
await import('./interleavings.test.ts')

t.test('three calls at once are right in random orders', async (t) => {
  /** 0 goes on; anything else lets another call go first. */
  const choosing =
    (choices: readonly number[]): Choose =>
    (possible, turns) => {
      const goingOn = goOn(possible, turns)
      const preferred = [goingOn, ...possible.filter((side) => side !== goingOn)]
      return preferred[(choices[turns.length % choices.length] ?? 0) % preferred.length] as number
    }
  const unlikely = new Set(['INTERNAL_ERROR', 'IDEMPOTENCY_CONFLICT'])
  const name = fc.constantFrom(...stepNames)
  const property = fc.asyncProperty(
    fc.tuple(name, name, name),
    fc.array(fc.nat(2), { minLength: 40, maxLength: 40 }),
    async (names, choices) => {
      const run = await interleavings.run((given) => callsOf(given, names), choosing(choices))
      const faults = run.outcomes.split(', ').filter((code) => unlikely.has(code))
      if (faults.length + run.broken.length > 0)
        throw new Error(JSON.stringify({ order: orderOf(run.turns).join(''), ...run, turns: undefined }))
    },
  )
  const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)
  t.comment(`SEED=${seed}`)
  await fc.assert(property, { numRuns: runs, seed })
})

interleavings.reconciles(t)
