import t from 'tap'
import { type Column, judge, type Measured, percentile, verdictOn } from '../src/figures.ts'
import { closedLoop } from '../src/load.ts'
import { parseOptions } from '../src/options.ts'
import { type FigureRow, withFigures } from '../src/report.ts'

t.test('a percentile is a value that was measured, and the least that enough values do not exceed', async (t) => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)
  for (const [share, value] of [
    [0.5, 50],
    [0.99, 99],
    [1, 100],
  ] as const)
    t.equal(percentile(hundred, share), value)
  t.ok(Number.isNaN(percentile([], 0.5)))
})

const rates = (id: string, column: Column, values: readonly number[]): Measured => ({
  ...{ id, column, title: id, shows: 'perSecond' },
  samples: values.map((perSecond) => ({ figures: { perSecond }, failures: {} })),
})

t.test('a ratio compares the rounds one by one, and a reference stands for every checkout', async (t) => {
  const measured = [
    rates('pairs-128', 'this', [50, 100, 90]),
    rates('pairs-128', 'before', [10, 20, 30]),
    rates('sql', 'reference', [100, 200, 100]),
  ]
  t.same(judge({ measured, books: [] }, 'this')[0]?.value, { median: 0.5, least: 0.5, most: 0.9 })
  t.same(judge({ measured, books: [] }, 'before')[0]?.value, { median: 0.1, least: 0.1, most: 0.3 })
})

t.test('a bound is reached when it is met exactly, from either side', async (t) => {
  const verdicts = ['short', 'must reached', 'wish reached']
  const least = { wants: 'at least', must: 2, wish: 3 } as const
  const most = { wants: 'at most', must: 2, wish: 1 } as const
  t.same(
    [1.9, 2, 3].map((value) => verdictOn(least, value)),
    verdicts,
  )
  t.same(
    [2.1, 2, 1].map((value) => verdictOn(most, value)),
    verdicts,
  )
})

const row = (title: string, value: string): FigureRow => [title, 'SQL', '≥ 1', '≥ 2', value, 'short']

t.test('a figure takes the place of its former one, with its commit, and every other row stays', async (t) => {
  const page = 'a\n<!-- figures -->\n|---|\n| old | x |\n| kept | y | 1a2b |\n<!-- end of figures -->\nb\n'
  t.equal(
    withFigures(page, [row('old', '3'), row('new', '4')], ['c0ffee', '2.15.1', '2026-11-22']),
    `a
<!-- figures -->
|---|
| old | SQL | ≥ 1 | ≥ 2 | 3 | short | c0ffee | 2.15.1 | 2026-11-22 |
| kept | y | 1a2b |
| new | SQL | ≥ 1 | ≥ 2 | 4 | short | c0ffee | 2.15.1 | 2026-11-22 |
<!-- end of figures -->
b
`,
  )
  t.throws(() => withFigures('no table', [], []), /no part for figures/)
  t.ok(parseOptions(['--write', '--lasting'], ['lasting']).write)
  t.throws(() => parseOptions(['--write', '--short'], []), /^--write keeps figures of a full run only\.\n/)
})

t.test('a closed loop counts what ends inside its window, and what fails whenever it does', async (t) => {
  const window = { isOpen: false, isOver: false }
  const settings = {
    ...{ clients: 2, warmUpMs: 20, windowMs: 20 },
    opened: () => void Object.assign(window, { isOpen: true }),
    closed: () => void Object.assign(window, { isOver: true }),
  }
  let counted = 0
  const load = await closedLoop(settings, async (load) => {
    await new Promise((resolve) => setTimeout(resolve, 1))
    if (window.isOpen && !window.isOver) counted += 1
    if (!window.isOpen) load.failed('early')
  })
  t.ok(load.operationsMs.length > 0)
  t.ok(Math.abs(load.operationsMs.length - counted) <= 2, 'but for those that end with the window itself')
  t.ok((load.failures.get('early') ?? 0) > 0)
  const broken = () => Promise.reject(new Error('broken'))
  await t.rejects(closedLoop({ clients: 2, warmUpMs: 0, windowMs: 300 }, broken), { message: 'broken' })
})
