import { bodySha256, canonicalString } from '@backoffice/contracts'
import t from 'tap'

interface Line {
  readonly name: string
  readonly at: number | null
}
interface Comparison {
  readonly lines: readonly Line[]
  readonly byte: number | null
  readonly causes: readonly string[]
}
/** The browser's own module: JavaScript without a build. */
const { compare, pasted, signatureCause, bodyForms } = (await import(
  new URL('../assets/signing-comparison.js', import.meta.url).href
)) as {
  readonly compare: (ours: string, yours: string) => Comparison
  readonly pasted: (text: string) => string
  readonly signatureCause: (signature: string) => string | null
  readonly bodyForms: (body: string) => readonly { readonly name: string; readonly bytes: Uint8Array }[]
}

const body = '{"amount":"150.00","currency":"BRL"}'
const sent = { method: 'POST', path: '/api/v1/players/ply_1/deposits', timestamp: '1767225600', body }
const read = { method: 'GET', path: '/api/v1/players?externalId=a%2Fb%20c&x=1', timestamp: '1767225600', body: '' }
const ours = canonicalString(sent)
const fields = (request: typeof sent, change: Partial<Record<'method' | 'path' | 'timestamp' | 'digest', string>>) => {
  const { method, path, timestamp } = request
  return Object.values({ method, path, timestamp, digest: bodySha256(request.body), ...change }).join('\n')
}
const base64 = (text: string) => Buffer.from(bodySha256(text), 'hex').toString('base64')

/** A mistake as developers make it: what they signed, and what the page must say. */
const mistakes: readonly (readonly [mistake: string, request: typeof sent, signed: string, cause: RegExp])[] = [
  ['the method in lower case', sent, fields(sent, { method: 'post' }), /must be upper case/],
  ['another method', sent, fields(sent, { method: 'PUT' }), /signed PUT and sent POST/],
  ['the path without its prefix', sent, fields(sent, { path: '/players/ply_1/deposits' }), /prefix is missing/],
  ['the prefix twice', sent, fields(sent, { path: `/api/v1${sent.path}` }), /prefix \/api\/v1 is doubled/],
  ['the whole address', sent, fields(sent, { path: `https://x.example${sent.path}` }), /without scheme and host/],
  ['a slash at the end', sent, fields(sent, { path: `${sent.path}/` }), /ends with a slash/],
  ['a template', sent, fields(sent, { path: '/api/v1/players/{playerId}/deposits' }), /template of the path/],
  ['another path', sent, fields(sent, { path: '/api/v1/players/ply_2/deposits' }), /paths differ/],
  ['a path encoded otherwise', sent, fields(sent, { path: '/api/v1/players/ply%5F1/deposits' }), /percent-encoding/],
  ['the path without its query', read, fields(read, { path: '/api/v1/players' }), /query is missing/],
  ['a query that was not sent', sent, fields(sent, { path: `${sent.path}?a=1` }), /query that was not sent/],
  [
    'the query in another order',
    read,
    fields(read, { path: '/api/v1/players?x=1&externalId=a%2Fb%20c' }),
    /another order. Sign them/,
  ],
  ['plus for %20', read, fields(read, { path: '/api/v1/players?externalId=a%2Fb+c&x=1' }), /percent-encoding differs/],
  [
    'lower-case percent-encoding',
    read,
    fields(read, { path: '/api/v1/players?externalId=a%2fb%20c&x=1' }),
    /percent-encoding differs/,
  ],
  ['a query that is not encoded', read, fields(read, { path: '/api/v1/players?externalId=a/b c&x=1' }), /percent-enc/],
  [
    'letters beyond ASCII sent raw',
    { ...read, path: '/api/v1/players?externalId=jo\u00e3o' },
    fields(read, { path: '/api/v1/players?externalId=jo%C3%A3o' }),
    /beyond ASCII/,
  ],
  ['milliseconds', sent, fields(sent, { timestamp: '1767225600123' }), /milliseconds/],
  ['a fraction of a second', sent, fields(sent, { timestamp: '1767225600.5' }), /fraction/],
  ['an ISO time', sent, fields(sent, { timestamp: '2026-01-01T00:00:00Z' }), /ten digits/],
  ['a second later', sent, fields(sent, { timestamp: '1767225601' }), /signed one timestamp and sent another/],
  ['the digest in upper case', sent, fields(sent, { digest: bodySha256(body).toUpperCase() }), /lowercase hex/],
  ['the digest as base64', sent, fields(sent, { digest: base64(body) }), /digest is base64/],
  ['another hash', sent, fields(sent, { digest: 'a'.repeat(40) }), /looks like SHA-1/],
  ['the digest of an empty body', sent, fields(sent, { digest: bodySha256('') }), /signed an empty body/],
  ['a body that was not sent', read, fields(read, { digest: bodySha256('x') }), /none arrived/],
  ['a body written twice', sent, fields(sent, { digest: bodySha256(`${body} `) }), /Serialise the body once/],
  ['null for no body', read, fields(read, { digest: bodySha256('null') }), /the text null and sent no body/],
  ['{} for no body', read, fields(read, { digest: bodySha256('{}') }), /the text {} and sent no body/],
  ['[] for no body', read, fields(read, { digest: bodySha256('[]') }), /the text \[] and/],
  ['"" for no body', read, fields(read, { digest: bodySha256('""') }), /the text "" and/],
  ['undefined for no body', read, fields(read, { digest: bodySha256('undefined') }), /the text undefined and/],
  ['an object as text', sent, fields(sent, { digest: bodySha256('[object Object]') }), /\[object Object] in place/],
  ['CR LF', sent, ours.replaceAll('\n', '\r\n'), /CR LF/],
  ['backslash and n', sent, ours.replaceAll('\n', '\\n'), /backslash and the letter n/],
  ['a line feed at the end', sent, `${ours}\n`, /ends with a line feed/],
  ['a byte order mark', sent, `\ufeff${ours}`, /byte order mark/],
  ['a space behind a field', sent, ours.replace('POST', 'POST '), /begins or ends with a space/],
  ['no digest', sent, ours.split('\n').slice(0, 3).join('\n'), /fourth field is missing/],
  [
    'the body for its digest',
    sent,
    `${ours.split('\n').slice(0, 3).join('\n')}\n${body}`,
    /fourth field is the body itself/,
  ],
  ['a body of lines for its digest', sent, `POST\n${sent.path}\n1\n{\n "a": 1\n}`, /fourth field is the body itself/],
  ['spaces between the fields', sent, ours.replaceAll('\n', ' '), /has four lines; yours has 1/],
  ['another order of the fields', sent, ours.split('\n').reverse().join('\n'), /fields are in another order/],
]

t.test('each mistake has its own cause, and the place where it begins', async (t) => {
  for (const [mistake, request, signed, cause] of mistakes) {
    const canonical = canonicalString(request)
    const { causes, byte } = compare(canonical, signed)
    t.match(causes[0], cause, mistake)
    t.notMatch(causes.slice(1).join('\n'), cause, `${mistake}, once`)
    const [left, right] = [Buffer.from(canonical), Buffer.from(signed)]
    t.strictSame(left.subarray(0, Number(byte) - 1), right.subarray(0, Number(byte) - 1), `${mistake}: the same before`)
    t.not(left[Number(byte) - 1], right[Number(byte) - 1], `${mistake}: different there`)
  }
})

t.test('two mistakes are both named, and only the lines that differ are marked', async (t) => {
  const { causes, lines } = compare(ours, fields(sent, { method: 'post', timestamp: '1767225600000' }))
  t.match(causes, [/upper case/, /milliseconds/])
  t.strictSame(
    lines.map(({ name, at }) => [name, at]),
    [
      ['Method', 0],
      ['Path', null],
      ['Timestamp', 10],
      ['Body digest', null],
    ],
  )
  const mixed = compare(ours, fields(sent, { path: '/players/ply_1/deposits' }).replaceAll('\n', '\r\n'))
  t.match(mixed.causes, [/CR LF/, /prefix is missing/])
})

t.test('equal strings have no cause, however they are pasted', async (t) => {
  const reply = { error: { code: 'INVALID_SIGNATURE', details: { canonicalString: ours, compareAt: 'x' } } }
  for (const form of [ours, JSON.stringify(ours), JSON.stringify(reply), JSON.stringify(reply.error.details)])
    t.strictSame([compare(ours, pasted(form)).causes, compare(ours, pasted(form)).byte], [[], null], form)
  t.equal(pasted(JSON.stringify(`${ours}\r\n`)), `${ours}\r\n`, 'JSON keeps what a text field does not')
  t.equal(pasted('{"not": "a reply"}'), '{"not": "a reply"}')
})

t.test('a signature of another form is named', async (t) => {
  const right = 'ab'.repeat(32)
  t.equal(signatureCause(right), null)
  t.match(signatureCause(right.toUpperCase()), 'lowercase hex')
  t.match(signatureCause(`sha256=${right}`), 'stand alone')
  t.match(signatureCause(`${right} `), 'quotes or spaces')
  t.match(signatureCause(Buffer.from(right, 'hex').toString('base64')), 'base64')
  t.match(signatureCause('ab'.repeat(20)), 'yours has 40')
})

t.test('a body that a library wrote anew is recognised by its digest', async (t) => {
  const formOf = (sent: string | Uint8Array) =>
    bodyForms('{"name": "João", "amount": "1.00"}').find(({ bytes }) => bodySha256(bytes) === bodySha256(sent))?.name
  t.equal(formOf('{"name": "João", "amount": "1.00"}'), '')
  t.equal(formOf('{"name":"João","amount":"1.00"}'), 'as JSON without spaces')
  t.equal(formOf('{"amount":"1.00","name":"João"}'), 'as JSON without spaces and sorted keys')
  t.equal(formOf('{"name": "Jo\\u00e3o", "amount": "1.00"}'), 'with letters beyond ASCII as \\u escapes')
  t.equal(formOf('{"name": "João", "amount": "1.00"}\n'), 'with a line feed at the end')
  t.equal(formOf(Buffer.from('{"name": "João", "amount": "1.00"}', 'latin1')), 'in Latin-1 in place of UTF-8')
  t.equal(formOf(''), 'empty')
  t.equal(formOf('{"name":"Ana"}'), undefined)
})
