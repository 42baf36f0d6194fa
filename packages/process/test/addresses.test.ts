import t from 'tap'
import { holderOf, trustedProxies } from '../src/addresses.ts'
import { ConfigurationError } from '../src/config.ts'

t.test('one holder has all addresses of an IPv6 /64, and one IPv4 address', async (t) => {
  t.equal(holderOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64')
  t.equal(holderOf('2001:db8:1:2::1'), holderOf('2001:db8:1:2:ffff::1'))
  t.not(holderOf('2001:db8:1:3::1'), holderOf('2001:db8:1:2::1'))
  t.equal(holderOf('192.0.2.7'), '192.0.2.7')
  t.equal(holderOf('::ffff:192.0.2.7'), '192.0.2.7', 'as a socket shows it that listens on IPv6')
  t.equal(holderOf('nonsense'), 'nonsense')
  t.equal(holderOf(':'), ':')
})

t.test('a proxy is trusted by its address or range, however a socket writes the address', async (t) => {
  const isTrusted = trustedProxies('10.244.0.0/16, 192.0.2.7,2001:db8::/32,::ffff:198.51.100.0/120')
  for (const address of ['10.244.3.4', '::ffff:10.244.3.4', '192.0.2.7', '2001:db8:1::1', '198.51.100.77'])
    t.ok(isTrusted(address), address)
  for (const address of ['10.245.0.1', '192.0.2.8', '2001:db9::1', '', 'nonsense']) t.notOk(isTrusted(address), address)
  t.notOk(trustedProxies('')('127.0.0.1'), 'nobody by default')
})

t.test('what is no address and no range is refused, before anything starts', async (t) => {
  for (const entry of [
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/x',
    '010.0.0.1',
    '10.1',
    'proxy',
    '2001:db8::/129',
    '/8',
    '1',
    '0x0a.0.0.1',
    '10.0.0.0/08',
    '::ffff:010.1.2.3',
    '::ffff:10.0.0.0/90',
  ])
    t.throws(() => trustedProxies(entry), ConfigurationError, entry)
})
