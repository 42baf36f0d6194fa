import { Rejection } from '@backoffice/contracts'
import t from 'tap'
import {
  AddressRanges,
  activate,
  changeLimits,
  normaliseRanges,
  type OperatorTerms,
  revokedAt,
  suspend,
} from '../../src/operators/operator.ts'

const [early, late] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-02-01T00:00:00Z')]
const terms: OperatorTerms = {
  rateLimitPerMinute: 600,
  allowedAddresses: ['10.0.0.0/8'],
  suspendedAt: null,
  replayProtection: false,
}

t.test('suspending twice leaves the first time, and activating ends it', async (t) => {
  const suspended = suspend(suspend(terms, early), late)
  t.same(suspended, { ...terms, suspendedAt: early })
  t.same(activate(suspended), terms)
})

t.test('limits that are not given stay', async (t) => {
  t.same(changeLimits(terms, {}), terms)
  t.same(changeLimits(terms, { rateLimitPerMinute: 5 }), { ...terms, rateLimitPerMinute: 5 })
  t.same(changeLimits(terms, { allowedAddresses: [] }), { ...terms, allowedAddresses: [] })
})

t.test('a key is revoked once, and not when it is the last', async (t) => {
  t.equal(revokedAt(null, 2, late), late)
  t.equal(revokedAt(early, 1, late), early)
  t.throws(() => revokedAt(null, 1, late), new Rejection('CREDENTIAL_LAST_ACTIVE'))
})

t.test('an address is in a range whatever form it is written in', async (t) => {
  const ranges = new AddressRanges(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', '::ffff:198.51.100.0/120'])
  for (const inside of ['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.7', '2001:db8:1::9', '198.51.100.77'])
    t.ok(ranges.has(inside), inside)
  for (const outside of ['11.0.0.1', '192.0.2.8', '2001:db9::1', 'fe80::1', 'nonsense', ''])
    t.notOk(ranges.has(outside), outside)
  t.throws(() => new AddressRanges(['10.0.0.0/40']), RangeError)
})

t.test('a range that two programs could read differently is refused', async (t) => {
  const unclear = [
    '010.1.2.3',
    '010.0.0.0/8',
    '1',
    '10.1',
    '0x0a.0.0.1',
    '::ffff:010.1.2.3',
    '10.0.0.0/08',
    '1.2.3.4/33',
    '::ffff:10.0.0.0/90',
    '2001:db8::/129',
    '',
    'x',
  ]
  for (const range of unclear) {
    t.throws(() => normaliseRanges([range]), Rejection, range)
  }
})

t.test('a range is shown as what it means', async (t) => {
  const written = {
    '10.1.2.3/8': '10.0.0.0/8',
    '192.0.2.7': '192.0.2.7',
    '192.0.2.7/32': '192.0.2.7',
    '::ffff:10.1.2.3/104': '10.0.0.0/8',
    '2001:DB8:0:0::1/32': '2001:db8::/32',
    '2001:db8::7': '2001:db8::7',
    '0.0.0.0/0': '0.0.0.0/0',
  }
  t.strictSame(normaliseRanges(Object.keys(written)), Object.values(written))
})

t.test('what was stored before ranges were normalised keeps its meaning', async (t) => {
  t.ok(new AddressRanges(['010.1.2.3']).has('8.1.2.3'))
})
