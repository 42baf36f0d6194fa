import { createLogger, trustedProxies } from '@backoffice/process'
import t from 'tap'
import { createServer } from '../../src/http/app.ts'
import { callerAddress } from '../../src/http/authenticate.ts'

t.test('the caller is the rightmost hop that is no trusted proxy', async (t) => {
  const app = createServer({ log: createLogger('test', 'silent'), isTrusted: trustedProxies('10.0.0.0/8') })
  t.teardown(() => app.close())
  app.get('/', async (request) => callerAddress(request))
  const caller = async (remoteAddress: string, forwardedFor?: string) => {
    const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
    return (await app.inject({ url: '/', remoteAddress, headers })).body
  }
  t.equal(await caller('203.0.113.9', '1.2.3.4'), '203.0.113.9', 'an untrusted peer is the caller itself')
  t.equal(await caller('10.0.0.1', '198.51.100.1, 203.0.113.9'), '203.0.113.9')
  t.equal(await caller('10.0.0.1', '203.0.113.9, 10.0.0.2'), '203.0.113.9')
  t.equal(await caller('10.0.0.1', '203.0.113.9,  10.0.0.2 '), '203.0.113.9')
  t.equal(await caller('::ffff:10.0.0.1', '203.0.113.9'), '203.0.113.9')
  t.equal(await caller('::ffff:203.0.113.9'), '203.0.113.9')
  t.equal(await caller('10.0.0.1'), '10.0.0.1')
  t.equal(await caller('10.0.0.1', ''), '10.0.0.1')
  t.equal(await caller('10.0.0.1', '10.0.0.2'), '10.0.0.2', 'proxies alone')
  for (const hop of ['garbage', '010.1.1.1', '1', '203.0.113.9, garbage'])
    t.equal(await caller('10.0.0.1', hop), '10.0.0.1', hop)
})
