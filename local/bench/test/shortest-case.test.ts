// proof: runs the bench.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Progress } from '@backoffice/process/progress'
import { temporaryFolder } from '@backoffice/test-kit'
import t from 'tap'
import { isSound, roundsOf } from '../src/figures.ts'
import { groupNames, run } from '../src/main.ts'
import { parseOptions } from '../src/options.ts'
import { describeRun, writeReport } from '../src/report.ts'

t.test('the shortest case runs on a real system, and what it leaves behind reconciles', async (t) => {
  const out = temporaryFolder(t)
  const ending = new AsyncDisposableStack()
  t.teardown(() => ending.disposeAsync())
  const words = ['--short', '--only', 'wallet', '--out', out]
  const options = { ...parseOptions(words, groupNames), rounds: 2, windowMs: 100, firstLoadMs: 100, players: 4 }
  const results = await run({ options, ending, say: () => {}, progress: new Progress('bench') })
  const rates = roundsOf(results, { id: 'wallet', figure: 'perSecond' }, 'this')
  t.equal(rates.length, 2)
  t.ok(rates.every((rate) => rate > 0))
  t.ok(isSound(results), JSON.stringify(results))
  t.ok(results.books.every(({ compared }) => compared > 0))

  t.match(writeReport(results, options, await describeRun(options)), /CPU per GET wallet/)
  const written = JSON.parse(readFileSync(join(out, 'results.json'), 'utf8'))
  t.equal(written.measured.length, 1)
  t.equal(written.targets.length, 1)
})
