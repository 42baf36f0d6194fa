// proof: kills, freezes and cuts off two of each service.

import t from 'tap'
import { Random } from './random.ts'
import { expectNone, runChaos } from './run.ts'

/** As `npm run chaos` asks for. */
const minutes = Number(process.env.CHAOS_MINUTES ?? 0)
if (minutes > 0) t.setTimeout((minutes + 30) * 60_000)

t.test('whatever dies, every acknowledged effect happens once', async (t) => {
  const random = Random.of(t)
  const { problems, figures } = await runChaos(t, random, minutes)
  t.comment(JSON.stringify(figures))
  expectNone(t, problems, random)
  t.ok(figures.answered > 0)
  t.ok(figures.events > 0)
})
