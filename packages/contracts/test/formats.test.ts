import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import {
  asSeen,
  canonicalString,
  fromMinorUnits,
  isCalendarDate,
  isCpf,
  isCurrency,
  isEmail,
  isPositiveAmount,
  isTimestamp,
  isTimeZone,
  isVisible,
  signaturesEqual,
  signRequest,
  signWebhook,
  toMinorUnits,
  visible,
} from '../src/index.ts'

/** A test of texts that have a format, and of texts that do not. */
const judges =
  (check: (text: string) => boolean, [good, bad]: readonly [readonly string[], readonly string[]]) =>
  async (t: Test): Promise<void> => {
    for (const text of good) t.ok(check(text), text)
    for (const text of bad) t.notOk(check(text), text)
  }

const repeated = Array.from({ length: 10 }, (_, digit) => String(digit).repeat(11))
t.test(
  'a CPF has two right check digits, with or without punctuation',
  judges(isCpf, [
    ['52998224725', '529.982.247-25', '00000000191', '11144477735'],
    ['52998224724', '529.982.24725', '529982247-25', '5299822472', '529982247255', ' 52998224725', '', ...repeated],
  ]),
)
t.test(
  'a date is a real one, written YYYY-MM-DD',
  judges(isCalendarDate, [
    ['2000-02-29', '1999-12-31', '0001-01-01', '9999-12-31'],
    [
      ...['0000-01-01', '10000-01-01', '1900-02-29', '2001-02-29', '2000-13-01', '2000-00-10', '2000-1-1'],
      ...['2000-01-01T00:00:00Z', '20000101', ''],
    ],
  ]),
)
t.test(
  'a time is UTC with milliseconds',
  judges(isTimestamp, [
    ['2026-03-02T12:00:00.000Z', '0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'],
    [
      ...['0000-01-01T00:00:00.000Z', '+275760-09-13T00:00:00.000Z', '-000001-01-01T00:00:00.000Z'],
      ...['2026-03-02T12:00:00Z', '2026-03-02T12:00:00.000+00:00', '2026-02-30T00:00:00.000Z', 'x'],
    ],
  ]),
)
const longMailbox = `${'a'.repeat(65)}@b.co`
t.test(
  'an e-mail address has a mailbox and a domain with a dot',
  judges(isEmail, [
    ['a@b.co', 'ana.souza+x@mail.example.com.br', "o'brien@example.ie", 'ana@informação.com.br', 'x@例え.jp'],
    [
      ...['a', 'a@b', '@b.co', 'a@', 'a b@c.co', 'a@b..co', '.a@b.co', 'a@-b.co', 'a@b.co ', 'ã@b.co'],
      ...['a@ex%41mple.com', 'a@b\u200b.co', 'a@ã', `a@${'ã'.repeat(63)}.co`, longMailbox],
    ],
  ]),
)
t.test(
  'a name has a character that is seen',
  judges(isVisible, [
    ['Ana', ' Ł ', '李', '\u202eAna', '🎲', 'e\u0301'],
    [
      ...['', '  ', '\u00a0\u00a0', '\u200b\u200b', '\u2028\u2029', '\u202e\u202c', '\u3164\u3164'],
      ...['\u2800\u2800', '\ufeff\u00ad'],
    ],
  ]),
)
t.test(
  'a currency is one of today with 2 decimals, since all money here has 2',
  judges(isCurrency, [
    ['BRL', 'USD', 'EUR', 'ARS', 'MXN', 'COP', 'PEN'],
    ['CLP', 'PYG', 'JPY', 'KWD', 'CLF', 'DEM', 'BTC', 'XXX', 'XAU', 'brl', 'R$', ''],
  ]),
)
t.test(
  'a time zone is the IANA name of a place or of UTC, and no offset',
  judges(isTimeZone, [
    ['America/Sao_Paulo', 'America/Argentina/Buenos_Aires', 'Asia/Kolkata', 'Etc/UTC', 'UTC'],
    ['America/Rio', '-03:00', '+03', 'EST5EDT', 'BRT', 'GMT', '../posix/UTC', 'UTC ', ''],
  ]),
)
t.test(
  'an amount of a request is a positive decimal string with at most 2 decimals',
  judges(isPositiveAmount, [
    ['1', '0.01', '0.1', '10.50', '9999999999999.99'],
    ['0', '0.00', '-1', '+1', '1.', '.5', '01', '1.001', '1e3', '1,00', ' 1', '1 ', '', 'NaN', '10000000000000', '١'],
  ]),
)

t.test('changing one digit of a CPF makes it wrong', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 1, max: 9 }), (position, change) => {
      const digits = [...'52998224725']
      digits[position] = String((Number(digits[position]) + change) % 10)
      t.notOk(isCpf(digits.join('')))
    }),
  )
})

t.test('what is written is read back, to the last minor unit', async (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), (minorUnits) => {
      const text = fromMinorUnits(minorUnits)
      t.match(text, /^-?(0|[1-9]\d*)\.\d{2}$/)
      t.equal(toMinorUnits(text), minorUnits)
    }),
  )
})

t.test('what is no money string is refused, never rounded', async (t) => {
  for (const bad of ['1.005', '1e2', 'x', '', '1.']) t.throws(() => toMinorUnits(bad), RangeError, bad)
})

const codePoints = (has: RegExp): string[] =>
  Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter((character) => has.test(character))
const code = /^(\\u[0-9a-f]{4}){1,2}$/

t.test('whatever shows nothing by itself is shown as its code, and is no part of what is compared', async (t) => {
  const unseen = codePoints(/[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Cs}\u2800\u2028\u2029]/u)
  t.ok(unseen.length > 4_000)
  t.same(
    unseen.filter((character) => !code.test(visible(character))),
    [],
  )
  t.same(
    unseen.filter((character) => asSeen(`mule${character}@example.com${character}`) !== 'mule@example.com'),
    [],
  )
  t.equal(visible('one\n\ttwo\r\u2028', '\n\r\t'), 'one\n\ttwo\r\\u2028', 'but what is to stay')
})

t.test('a letter of another script than its word is shown as its code, and so is no word of one script', async (t) => {
  for (const [text, shown] of [
    ['mul\u0435@example.com', 'mul\\u0435@example.com'],
    ['\u0441\u043e\u0441\u043e@example.com', '\\u0441\\u043e\\u0441\\u043e@example.com'],
    ['\u0410na Souza', '\\u0410na Souza'],
    ['\u041f\u03b1\u043f\u0430', '\u041f\\u03b1\u043f\u0430'],
    ['a\u0501\u{10dd}', 'a\\u0501\\u10dd'],
  ] as const)
    t.equal(visible(text), shown)
  for (const text of [
    ...['Jo\u00e3o da Concei\u00e7\u00e3o, 3\u00ba andar', 'Joa\u0303o', '\u0418\u0432\u0430\u043d Ivanov'],
    ...['{"name":"\u0418\u0432\u0430\u043d"}', '\u6771\u4eac Tower, \u6771\u4eacTower'],
    ...['R$\u00a01.234,56 \u2013 \u20ac'],
  ])
    t.equal(visible(text), text)
})

t.test('what differs in case, width or blanks alone is compared as one text', async (t) => {
  for (const [one, other] of [
    ['Ana  Souza ', 'ana souza'],
    ['\uff4dule@example.com', 'MULE@example.com'],
    ['Stra\u00dfe', 'STRASSE'],
    ['Joa\u0303o', 'Jo\u00e3o'],
    ['\uff15\uff12', '52'],
    ['a\u00a0b', 'a b'],
  ] as const)
    t.equal(asSeen(one), asSeen(other))
  t.not(asSeen('mul\u0435@example.com'), asSeen('mule@example.com'))
  const characters = codePoints(/(?![\p{Script=Han}\p{Script=Hangul}\p{Co}\p{Cn}\p{Cs}])./su)
  t.same(
    characters.filter((character) => asSeen(asSeen(`a${character}b`)) !== asSeen(`a${character}b`)),
    [],
    'and its form is the same of its form',
  )
})

const request = { method: 'POST', path: '/api/v1/players?x=1', timestamp: '1767225600', body: '{"a":1}' }

t.test('the canonical string is method, path as sent, timestamp and body digest, joined by LF', async (t) => {
  const digest = createHash('sha256').update('{"a":1}').digest('hex')
  t.equal(canonicalString(request), `POST\n/api/v1/players?x=1\n1767225600\n${digest}`)
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
  t.equal(canonicalString({ ...request, method: 'get', body: '' }), `GET\n/api/v1/players?x=1\n1767225600\n${empty}`)
})

t.test('the signature is HMAC-SHA256 in lowercase hex', async (t) => {
  t.equal(signRequest('sk_1', request), createHmac('sha256', 'sk_1').update(canonicalString(request)).digest('hex'))
  t.equal(
    signWebhook('whsec_1', { timestamp: '1', body: '{}' }),
    createHmac('sha256', 'whsec_1').update('1.{}').digest('hex'),
  )
})

t.test('only the same lowercase hex is equal', async (t) => {
  const signature = signRequest('sk_1', request)
  t.ok(signaturesEqual(signature, signature))
  for (const other of [
    ...[signature.toUpperCase(), signature.slice(1), `${signature}0`, '', 'zz', signRequest('sk_2', request)],
  ])
    t.notOk(signaturesEqual(signature, other))
})
