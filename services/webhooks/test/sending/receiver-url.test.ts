import fc from 'fast-check'
import t from 'tap'
import { RefusedAddressError } from '../../src/sending/fault-words.ts'
import { checkedAddresses, checkReceiverUrl } from '../../src/sending/sender.ts'

const production = { allowLoopback: false }
const development = { allowLoopback: true }

t.test('production takes https to a public host, and nothing else', async (t) => {
  for (const url of [
    'https://hooks.example.com/a?b=c',
    'https://hooks.example.com:443/',
    'https://hooks.example.com:8443/',
    'https://8.8.8.8/x',
    'https://[2606:4700:4700::1111]/',
  ]) {
    t.equal(checkReceiverUrl(url, production).fault, null, url)
  }
  const refused = [
    ...[
      'http://hooks.example.com/',
      'ftp://hooks.example.com/',
      'javascript:alert(1)',
      'file:///etc/passwd',
      'nonsense',
      '',
    ],
    ...[22, 25, 53, 80, 444, 3306, 6379, 9443, 11211, 65535].map((port) => `https://hooks.example.com:${port}/`),
    ...['https://user:secret@hooks.example.com/', 'https://hooks.example.com/#part'],
    ...[
      'https://localhost/',
      'https://api.localhost./',
      'https://127.0.0.1/',
      'https://0x7f.1/',
      'https://2130706433/',
      'https://017700000001/',
    ],
    ...[
      'https://[::1]/',
      'https://[::ffff:10.0.0.1]/',
      'https://[64:ff9b::a9fe:a9fe]/',
      'https://169.254.169.254/latest/meta-data/',
    ],
    ...['https://10.1.2.3/', 'https://[fd00:ec2::254]/', 'https://0.0.0.0/', 'https://192.168.1.1.:443/'],
  ]
  for (const url of refused) t.type(checkReceiverUrl(url, production).fault, 'string', url)
})

t.test('development adds this machine over http, and nothing else', async (t) => {
  for (const url of [
    'http://127.0.0.1:9000/hook',
    'http://localhost:9000/',
    'https://localhost/',
    'http://[::1]:9000/',
  ]) {
    t.equal(checkReceiverUrl(url, development).fault, null, url)
  }
  for (const url of ['http://10.0.0.1/', 'http://hooks.example.com/', 'https://169.254.169.254/', 'ftp://localhost/']) {
    t.type(checkReceiverUrl(url, development).fault, 'string', url)
  }
})

const publicAddress = fc.constantFrom('8.8.8.8', '1.1.1.1', '2606:4700:4700::1111')
const privateAddress = fc.constantFrom(
  '10.0.0.1',
  '127.0.0.1',
  '::1',
  '169.254.169.254',
  '::ffff:192.168.0.1',
  'fd00::1',
  '64:ff9b::a00:1',
)

t.test('one private address among public ones refuses the host', async () => {
  const url = new URL('https://hooks.example.com/')
  await fc.assert(
    fc.asyncProperty(
      fc.array<string>(publicAddress, { maxLength: 4 }),
      privateAddress,
      fc.nat(),
      async (others, hidden, place) => {
        const answers = others.toSpliced(place % (others.length + 1), 0, hidden)
        const outcome = await checkedAddresses(url, async () => answers, production).catch((error) => error)
        return outcome instanceof RefusedAddressError
      },
    ),
  )
})

t.test('a host with only public addresses is sent to exactly those; one without any is refused', async (t) => {
  const url = new URL('https://hooks.example.com/')
  t.same(await checkedAddresses(url, async () => ['8.8.8.8', '1.1.1.1'], production), ['8.8.8.8', '1.1.1.1'])
  await t.rejects(
    checkedAddresses(url, async () => [], production),
    RefusedAddressError,
  )
})

t.test('even in development a name that leads to the private network is refused', async (t) => {
  await t.rejects(
    checkedAddresses(new URL('https://hooks.example.com/'), async () => ['192.168.0.10'], development),
    RefusedAddressError,
  )
  await t.rejects(
    checkedAddresses(new URL('http://localhost/'), async () => ['8.8.8.8'], development),
    RefusedAddressError,
  )
})
