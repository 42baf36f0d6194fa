import t from 'tap'
import { holderOf } from '../src/addresses.ts'

t.test('one holder has all addresses of an IPv6 /64, and one IPv4 address', async (t) => {
  t.equal(holderOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64')
  t.equal(holderOf('2001:db8:1:2::1'), holderOf('2001:db8:1:2:ffff::1'))
  t.not(holderOf('2001:db8:1:3::1'), holderOf('2001:db8:1:2::1'))
  t.equal(holderOf('192.0.2.7'), '192.0.2.7')
  t.equal(holderOf('::ffff:192.0.2.7'), '192.0.2.7', 'as a socket shows it that listens on IPv6')
  t.equal(holderOf('nonsense'), 'nonsense')
  t.equal(holderOf(':'), ':')
})
