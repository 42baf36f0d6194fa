import t from 'tap'
import { Zipf } from '../../src/load/zipf.ts'
import { accountsOf, distributions } from '../../src/references/posting.ts'

t.test('a number is drawn in proportion to one over its square', async (t) => {
  const zipf = new Zipf(3, 2)
  // 1, 1/4 and 1/9 of 49/36.
  t.equal(zipf.draw(0), 1)
  t.equal(zipf.draw(35 / 49), 1)
  t.equal(zipf.draw(37 / 49), 2)
  t.equal(zipf.draw(44 / 49), 2)
  t.equal(zipf.draw(46 / 49), 3)
  t.equal(zipf.draw(0.999_999), 3)
})

t.test('every number can be drawn, and none beyond the count', async (t) => {
  const zipf = new Zipf(100_000, 2)
  t.equal(zipf.draw(0), 1)
  t.equal(zipf.draw(1 - Number.EPSILON), 100_000)
})

t.test('every distribution draws accounts from 1 to the last', async (t) => {
  for (const distribution of distributions) {
    const draw = accountsOf(distribution, 10)
    for (let count = 0; count < 1_000; count += 1) {
      const account = draw()
      if (!Number.isInteger(account) || account < 1 || account > 10) t.fail(`${distribution} drew ${account}`)
    }
  }
  t.equal(accountsOf('hot', 10)(), 1)
})
