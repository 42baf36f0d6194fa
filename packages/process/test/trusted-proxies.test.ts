import t from 'tap'
import { trustedProxies } from '../src/addresses.ts'
import { ConfigurationError } from '../src/config.ts'

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
