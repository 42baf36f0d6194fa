import fc from 'fast-check'
import t from 'tap'
import { fromMinorUnits, isPositiveAmount, toMinorUnits } from '../src/index.ts'

t.test('what is written is read back, to the last minor unit', async (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), (minorUnits) => {
      const text = fromMinorUnits(minorUnits)
      t.match(text, /^-?(0|[1-9]\d*)\.\d{2}$/)
      t.equal(toMinorUnits(text), minorUnits)
    }),
  )
})

t.test('an amount of a request is a positive decimal string with at most 2 decimals', async (t) => {
  for (const good of ['1', '0.01', '0.1', '10.50', '9999999999999.99']) t.ok(isPositiveAmount(good), good)
  for (const bad of [
    '0',
    '0.00',
    '-1',
    '+1',
    '1.',
    '.5',
    '01',
    '1.001',
    '1e3',
    '1,00',
    ' 1',
    '1 ',
    '',
    'NaN',
    '10000000000000',
    '١',
  ]) {
    t.notOk(isPositiveAmount(bad), bad)
  }
})

t.test('what is no money string is refused, never rounded', async (t) => {
  for (const bad of ['1.005', '1e2', 'x', '', '1.']) t.throws(() => toMinorUnits(bad), RangeError, bad)
})
