import t from 'tap'
import { payout, stopsPerReel, symbolAt, symbols } from '../../src/domain/slot.ts'

t.test('over all lines the game returns what the catalogue says: 96.12 percent', async (t) => {
  const reel = Array.from({ length: stopsPerReel }, (_, stop) => symbolAt(stop))
  let paid = 0
  for (const first of reel) for (const second of reel) for (const third of reel) paid += payout([first, second, third])
  t.equal(((paid / stopsPerReel ** 3) * 100).toFixed(2), '96.12')
})

t.test('three alike pay their symbol, two of the rarest pay as a pair, the rest pays nothing', async (t) => {
  symbols.forEach(({ pays }, symbol) => {
    t.equal(payout([symbol, symbol, symbol]), pays)
  })
  t.equal(payout([0, 0, 4]), 8)
  t.equal(payout([0, 3, 0]), 8)
  t.equal(payout([1, 1, 4]), 0)
  t.throws(() => symbolAt(stopsPerReel), RangeError)
})
