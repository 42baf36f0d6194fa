import { BlockList, isIPv4 } from 'node:net'
import fc from 'fast-check'
import t from 'tap'
import { RefusedAddressError } from '../../src/sending/fault-words.ts'
import { checkedAddresses, checkReceiverUrl, isLoopbackAddress, isPublicAddress } from '../../src/sending/sender.ts'

const production = { allowLoopback: false }
const development = { allowLoopback: true }

const words = (text: string) => text.trim().split(/\s+/)

t.test('production takes https to a public host, and nothing else', async (t) => {
  const taken = words(`https://hooks.example.com/a?b=c https://hooks.example.com:443/ https://hooks.example.com:8443/
    https://8.8.8.8/x https://[2606:4700:4700::1111]/`)
  for (const url of taken) t.equal(checkReceiverUrl(url, production).fault, null, url)
  const refused = [
    '',
    ...words(`http://hooks.example.com/ ftp://hooks.example.com/ javascript:alert(1) file:///etc/passwd nonsense
      https://user:secret@hooks.example.com/ https://hooks.example.com/#part
      https://localhost/ https://api.localhost./ https://127.0.0.1/ https://0x7f.1/ https://2130706433/
      https://017700000001/ https://[::1]/ https://[::ffff:10.0.0.1]/ https://[64:ff9b::a9fe:a9fe]/
      https://169.254.169.254/latest/meta-data/ https://10.1.2.3/ https://[fd00:ec2::254]/ https://0.0.0.0/
      https://192.168.1.1.:443/`),
    ...[22, 25, 53, 80, 444, 3306, 6379, 9443, 11211, 65535].map((port) => `https://hooks.example.com:${port}/`),
  ]
  for (const url of refused) t.type(checkReceiverUrl(url, production).fault, 'string', url)
})

t.test('development adds this machine over http, and nothing else', async (t) => {
  for (const url of words('http://127.0.0.1:9000/hook http://localhost:9000/ https://localhost/ http://[::1]:9000/'))
    t.equal(checkReceiverUrl(url, development).fault, null, url)
  for (const url of words('http://10.0.0.1/ http://hooks.example.com/ https://169.254.169.254/ ftp://localhost/'))
    t.type(checkReceiverUrl(url, development).fault, 'string', url)
})

const publicAddress = fc.constantFrom('8.8.8.8', '1.1.1.1', '2606:4700:4700::1111')
const privateAddress = fc.constantFrom(
  ...words('10.0.0.1 127.0.0.1 ::1 169.254.169.254 ::ffff:192.168.0.1 fd00::1 64:ff9b::a00:1'),
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
  const check = (url: string, addresses: string[], policy = production) =>
    checkedAddresses(new URL(url), async () => addresses, policy)
  const url = 'https://hooks.example.com/'
  t.same(await check(url, ['8.8.8.8', '1.1.1.1']), ['8.8.8.8', '1.1.1.1'])
  await t.rejects(check(url, []), RefusedAddressError)
  const ofPrivateNetwork = check(url, ['192.168.0.10'], development)
  await t.rejects(ofPrivateNetwork, RefusedAddressError, 'in development a name that leads there is refused too')
  await t.rejects(check('http://localhost/', ['8.8.8.8'], development), RefusedAddressError)
})

// IANA's special-purpose registries, judged by Node's own implementation: nothing of what the rules are made of.
const special = new BlockList()
for (const cidr of [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4', '192.31.196.0/24', '192.52.193.0/24', '192.175.48.0/24'],
]) {
  const [network = '', bits] = cidr.split('/')
  special.addSubnet(network, Number(bits), 'ipv4')
}
special.addAddress('168.63.129.16')

const ipv4 = fc.oneof(
  fc.ipV4(),
  // Plain chance would hardly hit the edges of the blocks.
  fc.constantFrom(
    ...`9.255.255.255 10.0.0.0 10.255.255.255 11.0.0.0 172.15.255.255 172.16.0.0 172.31.255.255 172.32.0.0
    192.167.255.255 192.168.0.0 192.169.0.0 169.254.169.254 100.63.255.255 100.64.0.0 100.100.100.200
    100.127.255.255 100.128.0.0 126.255.255.255 127.0.0.1 128.0.0.0 168.63.129.16 223.255.255.255 224.0.0.0
    255.255.255.255 0.0.0.0 1.1.1.1`.split(/\s+/),
  ),
)
const hex = (address: string) => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
}

t.test('an IPv4 address is public when no special-purpose block has it', async () => {
  fc.assert(
    fc.property(ipv4, (address) => isPublicAddress(address) === !special.check(address, 'ipv4')),
    { numRuns: 2000 },
  )
})

t.test('an IPv4 address within an IPv6 one is judged as itself, or refused', async () => {
  const exact = [
    (a: string) => `::ffff:${a}`,
    (a: string) => `::ffff:${hex(a)}`,
    (a: string) => `0:0:0:0:0:FFFF:${hex(a).toUpperCase()}`,
    (a: string) => `64:ff9b::${hex(a)}`,
    (a: string) => `64:ff9b::${a}`,
  ]
  const refused = [
    (a: string) => `::${a}`,
    (a: string) => `2002:${hex(a)}::1`,
    (a: string) => `2001:0:${hex(a)}::1`,
    (a: string) => `::ffff:0:${hex(a)}`,
    (a: string) => `64:ff9b:1::${hex(a)}`,
    (a: string) => `fe80::${hex(a)}`,
    (a: string) => `fc00::${hex(a)}`,
  ]
  fc.assert(
    fc.property(ipv4, (address) => {
      const isPublic = !special.check(address, 'ipv4')
      return (
        exact.every((form) => isPublicAddress(form(address)) === isPublic) &&
        refused.every((form) => !isPublicAddress(form(address)))
      )
    }),
    { numRuns: 1000 },
  )
})

t.test('an IPv6 address outside of global unicast is refused', async (t) => {
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      if (!isPublicAddress(address)) return true
      const first = Number.parseInt(address.split(':')[0] || '0', 16)
      return (first >= 0x2000 && first <= 0x3fff) || /^(0*:)*0*:?(ffff|FFFF):|^0*64:0*ff9b:|\./i.test(address)
    }),
    { numRuns: 2000 },
  )
  const refused = `:: ::1 fe80::1 fe80::1%eth0 febf::1 fc00::1 fd00:ec2::254 fec0::1 ff02::1 100::1 2001:db8::1 2001::1
    2002:7f00:1:: 3fff::1 4000::1 5f00::1`.split(/\s+/)
  for (const address of refused) t.notOk(isPublicAddress(address), address)
  for (const address of ['2606:4700:4700::1111', '2a00:1450:4001:82a::200e']) t.ok(isPublicAddress(address), address)
})

t.test('what is not an address is not public', async () => {
  fc.assert(
    fc.property(
      fc.string(),
      (text) => isIPv4(text) || text.includes(':') || !isPublicAddress(text) || /^[\dxa-f.]+$/i.test(text),
    ),
  )
})

t.test('loopback is loopback in every spelling', async (t) => {
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '0:0:0:0:0:0:0:1'])
    t.ok(isLoopbackAddress(address), address)
  for (const address of ['10.0.0.1', '0.0.0.0', '::', 'localhost', '1.1.1.1'])
    t.notOk(isLoopbackAddress(address), address)
})
