import t from 'tap'
import type { Column } from '../src/case.ts'
import type { Measured, Results } from '../src/figures/results.ts'
import { judge, targets, verdictOn } from '../src/targets.ts'

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

t.test('what was not measured is not judged', async (t) => {
  t.same(judge(results(measured('me', 'this', rates(1))), 'this'), [])
  t.same(judge(results(), 'this'), [])
})

t.test('a reference that several groups measure is taken from the group of the case', async (t) => {
  const all = results(
    { ...measured('sql-uniform', 'reference', rates(1)), group: 'pairs' },
    { ...measured('postings-uniform', 'this', rates(30)), group: 'postings' },
    { ...measured('sql-uniform', 'reference', rates(10)), group: 'postings' },
  )
  t.equal(judge(all, 'this')[0]?.value.median, 3)
})

t.test('the checkout before is what some targets are held against', async (t) => {
  const latencies = (...values: number[]) => values.map((p50Ms) => ({ p50Ms }))
  const both = results(measured('pairs-1', 'this', latencies(8, 9)), measured('pairs-1', 'before', latencies(16, 18)))
  const [judged] = judge(both, 'this')
  t.equal(judged?.value.median, 0.5)
  t.equal(judged?.verdict, 'wish reached')
  t.same(judge(both, 'before'), [], 'and is not held against itself')
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

t.test('what is wished is more than what must be', async (t) => {
  const mild = targets.filter(({ wants, must, wish }) => (wants === 'at least' ? wish <= must : wish >= must))
  t.same(mild, [])
})
