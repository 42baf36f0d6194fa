import t from 'tap'
import type { Column } from '../src/case.ts'
import { type Measured, percentile, type Results } from '../src/figures.ts'
import { parseOptions } from '../src/options.ts'
import { type FigureRow, withFigures } from '../src/report.ts'
import { judge, verdictOn } from '../src/targets.ts'

t.test('a percentile is a value that was measured, and the least that enough values do not exceed', async (t) => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)
  t.equal(percentile(hundred, 0.5), 50)
  t.equal(percentile(hundred, 0.99), 99)
  t.equal(percentile(hundred, 1), 100)
  t.equal(percentile([7], 0.999), 7)
  t.ok(Number.isNaN(percentile([], 0.5)))
})

const measured = (id: string, column: Column, figures: readonly Record<string, number>[]): Measured => ({
  id,
  column,
  group: 'any',
  title: id,
  shows: 'perSecond',
  samples: figures.map((figures) => ({ figures, failures: {} })),
})
const results = (...measured: Measured[]): Results => ({ measured, books: [] })
const rates = (...values: number[]) => values.map((perSecond) => ({ perSecond }))

t.test('a ratio compares the rounds one by one, and a reference stands for every checkout', async (t) => {
  const all = results(
    measured('me', 'this', rates(50, 100, 90)),
    measured('me', 'before', rates(10, 20, 30)),
    measured('bare', 'reference', rates(100, 200, 100)),
  )
  t.same(judge(all, 'this')[0]?.value, { median: 0.5, least: 0.5, most: 0.9 })
  t.same(judge(all, 'before')[0]?.value, { median: 0.1, least: 0.1, most: 0.3 })
})

t.test('a bound is reached when it is met exactly, from either side', async (t) => {
  const least = { wants: 'at least', must: 2, wish: 3 } as const
  t.same(
    [1.9, 2, 3].map((value) => verdictOn(least, value)),
    ['short', 'must reached', 'wish reached'],
  )
  const most = { wants: 'at most', must: 2, wish: 1 } as const
  t.same(
    [2.1, 2, 1].map((value) => verdictOn(most, value)),
    ['short', 'must reached', 'wish reached'],
  )
  t.equal(verdictOn(least, Number.NaN), 'short')
})

const row = (title: string, value: string): FigureRow => [title, 'SQL', '≥ 1', '≥ 2', value, 'short']

t.test('a figure takes the place of its former one, with its commit, and every other row stays', async (t) => {
  const page = 'a\n<!-- figures -->\n| figure |\n|---|\n| old | x |\n| kept | y | 1a2b |\n<!-- end of figures -->\nb\n'
  const written = withFigures(page, [row('old', '3'), row('new', '4')], ['c0ffee', '2.15.1', '2026-11-22'])
  t.equal(
    written,
    `a
<!-- figures -->
| figure |
|---|
| old | SQL | ≥ 1 | ≥ 2 | 3 | short | c0ffee | 2.15.1 | 2026-11-22 |
| kept | y | 1a2b |
| new | SQL | ≥ 1 | ≥ 2 | 4 | short | c0ffee | 2.15.1 | 2026-11-22 |
<!-- end of figures -->
b
`,
  )
  t.throws(() => withFigures('no table', [], []), /no part for figures/)
})

t.test('only what a full run measured is kept', async (t) => {
  const keeps = (...more: string[]) => parseOptions(['--write', ...more], ['me']).write
  t.ok(keeps() && keeps('--only', 'me') && keeps('--rounds', '10') && keeps('--lasting'))
  for (const less of ['--short', '--bytes', '--rounds=1', '--window-ms=700'])
    t.throws(() => keeps(less), { message: /^--write keeps figures of a full run only\.\n/ }, less)
})
