// proof: runs the bench.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { find, isSound, roundsOf } from '../src/figures.ts'
import { parseOptions } from '../src/options.ts'
import { describeRun, writeReport } from '../src/report.ts'
import { groupNames, run } from '../src/run.ts'

t.test('the shortest case runs on a real system, and what it leaves behind reconciles', async (t) => {
  const out = mkdtempSync(join(tmpdir(), 'backoffice-bench-results-'))
  const ending = new AsyncDisposableStack()
  t.teardown(async () => {
    await ending.disposeAsync()
    rmSync(out, { recursive: true, force: true })
  })
  const words = ['--short', '--only', 'me', '--rounds', '2', '--window-ms', '100', '--out', out]
  const options = {
    ...parseOptions(words, groupNames),
    firstLoadMs: 100,
    players: 4,
  }
  const results = await run(options, ending, () => {})
  for (const id of ['me', 'bare']) {
    const rates = roundsOf(find(results, { id, column: 'this' }), 'perSecond')
    t.equal(rates.length, 2, id)
    t.ok(
      rates.every((rate) => rate > 0),
      id,
    )
  }
  t.ok(isSound(results), JSON.stringify(results))
  t.ok(results.books.every(({ compared }) => compared > 0))

  t.match(writeReport(results, options, await describeRun(options)), /signed GET \/me\/s/)
  const written = JSON.parse(readFileSync(join(out, 'results.json'), 'utf8'))
  t.equal(written.measured.length, 2)
  t.equal(written.targets.length, 1)
})
