import { inputDigest } from '@backoffice/team-identity'
import { calculateJwkThumbprint } from 'jose'
import t from 'tap'
import { canonical, digestOf, inputOf, newKey, type ShownCall } from '../assets/signing.js'

t.test('canonical JSON is that of RFC 8785', async (t) => {
  // Its section 3.2.2, and its order of UTF-16 units.
  const numbers = {
    numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
    literals: [null, true],
  }
  const text = { string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/' }
  t.equal(
    canonical({ ...numbers, ...text }),
    '{"literals":[null,true],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  )
  const order = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6']
  const sorted = ['\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33']
  t.strictSame(Object.keys(JSON.parse(canonical(Object.fromEntries(order.map((name) => [name, 1]))))), [
    '1',
    ...sorted.filter((name) => name !== '1'),
  ])
  t.equal(
    canonical(Object.fromEntries(order.map((name) => [name, 1]))),
    `{${sorted.map((name) => `${JSON.stringify(name)}:1`).join()}}`,
  )
})

t.test("the browser's digest is the services'", async (t) => {
  const inputs = [
    {},
    { b: 1, a: [true, null, -0, 1e21, 0.1 + 0.2, 'ü\u2028"'], c: { z: {}, '': [] } },
    { '10': 'ten', '9': 'nine', __proto: 'x' },
    JSON.parse('{"__proto__":{"a":1},"constructor":"x"}'),
    { amount: '1000000.00', reason: 'line\nline\ttab', approves: undefined },
  ]
  for (const input of inputs) {
    const sent = JSON.parse(JSON.stringify(input))
    t.equal(await digestOf(sent), inputDigest(input))
  }
})

t.test('a key has the thumbprint that the provider certifies, and does not leave the browser', async (t) => {
  const { privateKey, publicJwk, thumbprint } = await newKey()
  t.equal(thumbprint, await calculateJwkThumbprint(publicJwk))
  t.notOk(privateKey.extractable)
  for (const format of ['jwk', 'pkcs8'] as const) await t.rejects(crypto.subtle.exportKey(format, privateKey))
})

t.test(
  'what was filled in becomes an input: times of the zone, lists, numbers, and nothing for what is empty',
  async (t) => {
    const shown: ShownCall = {
      ...{
        form: 'x',
        operation: 'a.b',
        isSealed: false,
        timeZone: 'America/Sao_Paulo',
        input: { playerId: 'ply_1', fixed: true },
      },
      fields: [
        { name: 'reason', kind: 'lines' },
        { name: 'until', kind: 'time', empty: null },
        { name: 'limit', kind: 'number', empty: null },
        { name: 'addresses', kind: 'list', empty: [] },
        { name: 'states', kind: 'list' },
        { name: 'makeKey', kind: 'yes' },
        { name: 'playerId', kind: 'text' },
      ],
    }
    const filled = {
      ...{
        reason: ' two\r\nlines ',
        until: '2026-11-22T09:30',
        limit: '60',
        addresses: '10.0.0.1, 10.0.0.2\n10.0.0.3',
      },
      ...{ states: 'failed', makeKey: 'yes', playerId: 'ply_2', other: 'left out' },
    }
    t.strictSame(inputOf(shown, filled), {
      ...{ reason: 'two\nlines', until: '2026-11-22T12:30:00.000Z', limit: 60 },
      ...{ addresses: ['10.0.0.1', '10.0.0.2', '10.0.0.3'], states: ['failed'], makeKey: true },
      ...{ playerId: 'ply_1', fixed: true },
    })
    const nothing = { reason: '  ', limit: '', addresses: '' }
    t.strictSame(inputOf(shown, nothing), { until: null, limit: null, addresses: [], playerId: 'ply_1', fixed: true })
    t.match(
      inputOf(shown, { limit: 'many', until: 'soon' }),
      { limit: 'many', until: 'soon' },
      'the service says what is wrong',
    )
  },
)
