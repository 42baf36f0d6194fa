// proof: PostgreSQL is lost, and a copy of it is promoted.
// waits: for servers to recover and for real time-outs.

import t from 'tap'
import { newSeed } from './options.ts'
import { runPromotions } from './promotions.ts'
import { Random } from './random.ts'

t.test('a standby that had not heard of the last commits is promoted under the running services', async (t) => {
  const seed = process.env.CHAOS_SEED ?? newSeed()
  t.comment(`seed ${seed}: CHAOS_SEED=${seed} repeats it`)
  const ending = new AsyncDisposableStack()
  t.teardown(() => ending.disposeAsync())
  const log = (line: string) => t.comment(line)
  const { problems, lost, answered } = await runPromotions(1, new Random(seed), { ending, log })
  t.same(problems, [])
  t.ok(lost > 0 && lost < answered, `${lost} of ${answered} were lost`)
})
