import { inputDigest } from '@backoffice/team-access/identity'
import { calculateJwkThumbprint } from 'jose'
import t from 'tap'
import { amountOf, canonical, digestOf, inputOf, newKey, type ShownCall, unreadOf } from '../assets/signing.js'

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

const how = { form: 'x', operation: 'a.b', isSealed: false, timeZone: 'America/Sao_Paulo', language: 'pt-BR' } as const

t.test(
  'what was filled in becomes an input: times of the zone, lists, numbers, amounts, and nothing for what is empty',
  async (t) => {
    const shown: ShownCall = {
      ...how,
      input: { playerId: 'ply_1', fixed: true },
      fields: [
        { name: 'reason', kind: 'lines' },
        { name: 'until', kind: 'time' },
        { name: 'limit', kind: 'number' },
        { name: 'amount', kind: 'amount' },
        { name: 'addresses', kind: 'list' },
        { name: 'states', kind: 'list' },
        { name: 'makeKey', kind: 'yes' },
        { name: 'playerId', kind: 'text' },
      ],
    }
    const filled = {
      ...{ reason: ' two\r\nlines ', until: '2026-11-22T09:30', limit: '60', amount: ' -1.234,5 ' },
      ...{ addresses: '10.0.0.1, 10.0.0.2\n10.0.0.3', states: 'failed', makeKey: 'yes' },
      ...{ playerId: 'ply_2', other: 'left out' },
    }
    t.strictSame(inputOf(shown, filled), {
      ...{ reason: 'two\nlines', until: '2026-11-22T12:30:00.000Z', limit: 60, amount: '-1234.50' },
      ...{ addresses: ['10.0.0.1', '10.0.0.2', '10.0.0.3'], states: ['failed'], makeKey: true },
      ...{ playerId: 'ply_1', fixed: true },
    })
    t.strictSame(inputOf(shown, { reason: '  ', limit: '', addresses: '' }), shown.input)
    t.strictSame(unreadOf(shown, filled), [])
    const unread = { limit: 'many', until: 'soon', amount: '10.50', addresses: ' , ', reason: 'x' }
    t.strictSame(unreadOf(shown, unread), ['until', 'limit', 'amount', 'addresses'])
    t.strictSame(inputOf(shown, unread), { ...shown.input, reason: 'x' }, 'nobody guesses')
  },
)

t.test('a choice stands in the input as the page showed it, or as what is filled in beside it', async (t) => {
  const options = [
    { name: 'forGood', value: null },
    { name: 'months1', value: '2026-12-23T12:00:00.000Z' },
  ]
  const shown: ShownCall = {
    ...how,
    input: {},
    fields: [{ name: 'until', kind: 'options', options, of: { kind: 'time' } }],
  }
  t.strictSame(inputOf(shown, { until: 'forGood', untilGiven: '2026-11-22T09:30' }), { until: null })
  t.strictSame(inputOf(shown, { until: 'months1' }), { until: '2026-12-23T12:00:00.000Z' })
  t.strictSame(inputOf(shown, { until: 'given', untilGiven: '2026-11-22T09:30' }), {
    until: '2026-11-22T12:30:00.000Z',
  })
  for (const given of [{}, { until: '' }, { until: 'given' }, { until: 'null' }, { untilGiven: '2026-11-22T09:30' }])
    t.strictSame(inputOf(shown, given), {}, 'nothing is chosen for anybody')
  t.strictSame(unreadOf(shown, { until: 'given', untilGiven: 'soon' }), ['until'])
})

t.test('an amount is read as its language writes it, and what could be two amounts is none', async (t) => {
  const written = [
    ['10,50', '10.50', undefined],
    ['10.50', undefined, '10.50'],
    ['1.234,56', '1234.56', undefined],
    ['1,234.56', undefined, '1234.56'],
    ['1.234', '1234.00', undefined],
    ['1,234', undefined, '1234.00'],
    ['-1.234.567,8', '-1234567.80', undefined],
    ['−10', '-10.00', '-10.00'],
    ['- 10', '-10.00', '-10.00'],
    ['+10', '10.00', '10.00'],
    ['0', '0.00', '0.00'],
    ['1234567890123', '1234567890123.00', '1234567890123.00'],
    ['1.234.567.890.123,00', '1234567890123.00', undefined],
    ...[
      '12.34,5',
      '1,23,4',
      '12345678901234',
      '12.345.678.901.234',
      '1234.567',
      '010',
      '1e3',
      '0x10',
      '١٠',
      '10,',
      ',5',
    ].map((text) => [text, undefined, undefined] as const),
    ['1.23', undefined, '1.23'],
    ['R$ 10,50', undefined, undefined],
  ] as const
  for (const [text, portuguese, english] of written) {
    t.equal(amountOf(text, 'pt-BR'), portuguese, `${text} in Portuguese`)
    t.equal(amountOf(text, 'en'), english, `${text} in English`)
  }
})
