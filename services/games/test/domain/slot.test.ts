import t from 'tap'
import { demonstration, lineOf, payout, stopsOf, symbolAt, walletReels } from '../../src/domain/slot.ts'

for (const [name, machine, stakesPaid, lines] of [
  ['the demonstrations return what the catalogue says: 96.12 percent', demonstration, 31_496, 32_768],
  [
    "the game of the sandbox's wallet returns what the catalogue says: 95 percent, to the line",
    walletReels,
    7_600,
    8_000,
  ],
] as const)
  t.test(`over all lines ${name}`, async (t) => {
    const reel = Array.from({ length: stopsOf(machine) }, (_, stop) => symbolAt(machine, stop))
    let paid = 0
    for (const first of reel)
      for (const second of reel) for (const third of reel) paid += payout(machine, [first, second, third])
    t.same([paid, reel.length ** 3], [stakesPaid, lines])
  })

t.test('three alike pay their symbol, two of the rarest pay as a pair, the rest pays nothing', async (t) => {
  demonstration.symbols.forEach(({ pays }, symbol) => {
    t.equal(payout(demonstration, [symbol, symbol, symbol]), pays)
  })
  t.equal(payout(demonstration, [0, 0, 4]), 8)
  t.equal(payout(demonstration, [0, 3, 0]), 8)
  t.equal(payout(demonstration, [1, 1, 4]), 0)
  t.throws(() => symbolAt(demonstration, stopsOf(demonstration)), RangeError)
})

t.test('a spin that is drawn again is the same, and who does not know the secret cannot draw it', async (t) => {
  const drawn = (secret: string) =>
    Array.from({ length: 200 }, (_, number) => lineOf(walletReels, secret, `ses_1-${number}`))
  t.same(drawn('one'), drawn('one'))
  t.notSame(drawn('one'), drawn('two'))
})

t.test('drawn lines come as often as their stops, so that what is drawn pays what the reels pay', async (t) => {
  const spins = 40_000
  const counts = walletReels.symbols.map(() => 0)
  for (let number = 0; number < spins; number++)
    for (const symbol of lineOf(walletReels, 'secret', `ses_1-${number}`)) counts[symbol] = (counts[symbol] ?? 0) + 1
  walletReels.symbols.forEach(({ weight }, symbol) => {
    const expected = (spins * 3 * weight) / stopsOf(walletReels)
    // Drawn from a fixed secret, so this cannot fail by chance: seven deviations of a fair draw.
    t.ok(Math.abs((counts[symbol] ?? 0) - expected) < 7 * Math.sqrt(expected), `symbol ${symbol}`)
  })
})
