// proof: kills, freezes and cuts off two of each service.

import t from 'tap'
import { newSeed, shortForm } from './options.ts'
import { describeProblems, runChaos } from './run.ts'

t.test('whatever dies, every acknowledged effect happens once', async (t) => {
  const seed = process.env.CHAOS_SEED ?? newSeed()
  t.comment(`seed ${seed}: CHAOS_SEED=${seed} repeats it`)
  const ending = new AsyncDisposableStack()
  t.teardown(() => ending.disposeAsync())
  const { problems, figures } = await runChaos({ ...shortForm, seed }, ending, (line) => t.comment(line))
  t.comment(JSON.stringify(figures))
  t.equal(problems.length, 0, problems.length === 0 ? 'nothing differs' : describeProblems(problems, seed))
  t.ok(figures.answered > 0)
  t.ok(figures.events > 0)
})
