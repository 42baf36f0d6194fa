import { Rejection } from '@backoffice/contracts'
import t from 'tap'
import { activate, normaliseRanges, type OperatorTerms, revokedAt, suspend } from '../../src/operators/operator.ts'

const [early, late] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-02-01T00:00:00Z')]
const terms: OperatorTerms = {
  rateLimitPerMinute: 600,
  storedMebibytesPerDay: null,
  storedRowsPerDay: null,
  allowedAddresses: ['10.0.0.0/8'],
  suspendedAt: null,
  replayProtection: false,
}

t.test('suspending twice leaves the first time, and activating ends it', async (t) => {
  const suspended = suspend(suspend(terms, early), late)
  t.same(suspended, { ...terms, suspendedAt: early })
  t.same(activate(suspended), terms)
})

t.test('a key is revoked once, and not when it is the last', async (t) => {
  t.equal(revokedAt(null, 2, late), late)
  t.equal(revokedAt(early, 1, late), early)
  t.throws(() => revokedAt(null, 1, late), new Rejection('CREDENTIAL_LAST_ACTIVE'))
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
