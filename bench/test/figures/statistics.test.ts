import t from 'tap'
import { latencyFigures, percentile, spread } from '../../src/figures/statistics.ts'

t.test('a percentile is a value that was measured, and the least that enough values do not exceed', async (t) => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)
  t.equal(percentile(hundred, 0.5), 50)
  t.equal(percentile(hundred, 0.99), 99)
  t.equal(percentile(hundred, 1), 100)
  t.equal(percentile([7], 0.999), 7)
  t.ok(Number.isNaN(percentile([], 0.5)))
})

t.test('one slow request in a thousand is the p99.9 only when it is more than one', async (t) => {
  const quick = Array.from({ length: 999 }, () => 1)
  t.equal(latencyFigures([...quick, 500]).p999Ms, 1)
  t.equal(latencyFigures([...quick.slice(1), 500, 500]).p999Ms, 500)
  t.equal(latencyFigures([...quick, 500]).maxMs, 500)
})

t.test('the median of an even number of rounds prefers none of the two in the middle', async (t) => {
  t.same(spread([4, 1, 3, 2]), { median: 2.5, least: 1, most: 4 })
  t.same(spread([3, 1, 2]), { median: 2, least: 1, most: 3 })
  t.ok(Number.isNaN(spread([]).median))
})
