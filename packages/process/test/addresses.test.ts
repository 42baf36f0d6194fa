import fc from 'fast-check'
import t from 'tap'
import { AddressRanges, addressOfHop, callerAddress, holderOf, writtenRange } from '../src/addresses.ts'
import { ConfigurationError } from '../src/config.ts'
import { trustedProxies } from '../src/http.ts'

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
  for (const address of ['10.245.0.1', '192.0.2.8', '2001:db9::1', 'fe80::1', '012.244.0.1', '', 'nonsense'])
    t.notOk(isTrusted(address), address)
  t.notOk(trustedProxies('')('127.0.0.1'), 'nobody by default')
})

t.test('a hop is an address in whatever form a proxy writes it, and nothing else', async (t) => {
  const isTrusted = trustedProxies('10.0.0.0/8,2001:db8::/32')
  const port = fc.integer({ min: 0, max: 65_535 })
  const property = fc.property(fc.ipV4(), fc.ipV6(), port, (v4, v6, port) => {
    for (const hop of [v4, `${v4}:${port}`]) t.equal(addressOfHop(hop), v4)
    for (const hop of [v6, `[${v6}]`, `[${v6}]:${port}`]) t.equal(addressOfHop(hop), v6)
  })
  fc.assert(property)
  for (const hop of ['10.1.2.3:51234', '[2001:db8::17]', '[2001:db8::17]:51234', '[::ffff:10.1.2.3]:1'])
    t.ok(isTrusted(hop), hop)
  for (const hop of [
    ...['', ':', '[', '[]', '[]:1', '10.1.2.3:', '10.1.2.3:x', '10.1.2.3:123456', '010.1.2.3:1', '[10.1.2.3]'],
    ...['[2001:db8::17', '2001:db8::17]', '"10.1.2.3"', 'unknown', '_hidden'],
  ])
    t.equal(addressOfHop(hop), null, hop)
})

t.test('the caller is the last hop that is no proxy, and the proxy behind it where that cannot be read', async (t) => {
  t.equal(callerAddress({ ip: '10.0.0.1', ips: ['10.0.0.1', '203.0.113.7:51234'] }), '203.0.113.7')
  t.equal(callerAddress({ ip: '10.0.0.1', ips: ['10.0.0.1', '10.0.0.2:80', '[2001:db8::17]:51234'] }), '2001:db8::17')
  t.equal(callerAddress({ ip: '10.0.0.1', ips: ['10.0.0.1', '10.0.0.2:80', 'unknown'] }), '10.0.0.2')
  t.equal(callerAddress({ ip: '::ffff:203.0.113.9' }), '203.0.113.9')
})

t.test('what is no address and no range, or what two programs could read differently, is refused', async (t) => {
  const octal = ['010.0.0.1', '010.0.0.0/8', '::ffff:010.1.2.3', '10.0.0.0/08', '0x0a.0.0.1']
  const lengths = ['10.0.0.0/', '10.0.0.0/33', '10.0.0.0/x', '2001:db8::/129', '::ffff:10.0.0.0/90', '/8']
  for (const entry of [...octal, ...lengths, '10.1', '1', 'proxy']) {
    t.throws(() => trustedProxies(entry), ConfigurationError, entry)
    t.equal(writtenRange(entry), null, entry)
  }
})

t.test('a range that was stored before they were written in one way keeps its meaning', async (t) => {
  t.ok(new AddressRanges(['010.1.2.3']).has('8.1.2.3'))
  t.throws(() => new AddressRanges(['10.0.0.0/40']), RangeError)
})
