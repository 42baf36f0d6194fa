import fc from 'fast-check'

/** A request that no good client sends, as a list of what is wrong with it. Nothing wrong comes first, for shrinking. */
export interface HostileRequest {
  /** The id of the operation that it is meant for. */
  readonly operation: string
  readonly environment: 'sandbox' | 'production'
  /** Null: the operation's own. */
  readonly method: string | null
  /** In place of one of the path's ids, percent-encoded or as it is. */
  readonly id: { readonly text: string; readonly encoded: boolean } | null
  readonly tail: string
  readonly query: Query | null
  readonly body: Body
  readonly headers: readonly Header[]
  readonly signature: 'right' | 'wrong' | 'none'
  readonly framing: Framing
}

export type Query =
  | { readonly is: 'parameter'; readonly which: number; readonly text: string; readonly copies: number }
  | { readonly is: 'text'; readonly text: string }

/** `json` is the text of a value, or what should be one. `which` is one of the fields. */
export type Body =
  | { readonly is: 'example' }
  | { readonly is: 'field'; readonly which: number; readonly json: string }
  | { readonly is: 'no field'; readonly which: number }
  | { readonly is: 'another field'; readonly name: string; readonly json: string }
  | { readonly is: 'field twice'; readonly which: number; readonly json: string }
  | { readonly is: 'cut'; readonly part: number }
  | { readonly is: 'bytes'; readonly bytes: Uint8Array }

export interface Header {
  readonly name: string
  /** Null: it is left out. */
  readonly value: string | null
  /** Sent beside the right one, not in its place. */
  readonly twice: boolean
}

export const framings = [
  'plain',
  'chunked',
  'length too short',
  'length too long',
  'two lengths',
  'length and chunked',
  'absolute target',
  'HTTP/1.0',
  'no Host',
  'HTTP/9.9',
  'bare line feeds',
  'more bytes after it',
  'cut',
] as const
export type Framing = (typeof framings)[number]

const sizes = [300, 5_000, 70_000] as const
const texts = [
  ...['', ' ', '.', '..', '../../etc/passwd', '%', '%00', '%2e%2e%2f', '%ff', '\\', '/', '?', '#', ';', '*', '~'],
  ...['\u0000', '\u202e', '\ufeff', '\ud800', 'ａ', '💥', 'İ', '\r\nX-Injected: 1', '\n', '\t', '\u007f'],
  ...["' or 1=1 --", '"; drop table player; --', '{{7*7}}', '#{7*7}', '<script>', '$(id)', '__proto__', 'constructor'],
  ...['null', 'undefined', 'NaN', 'true', '0', '-1', '-0', '1e309', '0x10', '１２', '1,00', '1_000', '00', '.5', '5.'],
  ...['0.00', '0.001', '9999999999999.99', '10000000000000.00', '99999999999999999999', '1414.14', '13.13', '0.01'],
  ...['BRL', 'USD', 'brl', 'ply_unknown', 'dep_unknown', 'wdr_unknown', '2024-02-30', '0000-00-00', '9999-12-31'],
  ...sizes.map((size) => 'x'.repeat(size)),
]
const text = fc.oneof(
  fc.constantFrom(...texts),
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
)

/** What JSON.stringify would not write stands here as it is. */
const jsons = [
  ...'null true 0 -0 1 1.5 1e400 -1e400 9007199254740993 12345678901234567890 "" [] {} NaN'.split(' '),
  ...String.raw`"\u0000" "\ud800" "\udc00x" {"__proto__":{"a":1}} {"a":1,"a":2} [[[[[[[[]]]]]]]]`.split(' '),
  ...[`'a'`, '', '"\u0001"', '/* */1', '1,', '{"toString":1}', '{"constructor":1}', `{"a":`.repeat(100)],
  `${'['.repeat(2_000)}${']'.repeat(2_000)}`,
]
const json = fc.oneof(
  fc.constantFrom(...jsons),
  text.map((value) => JSON.stringify(value)),
  fc.jsonValue().map((value) => JSON.stringify(value)),
)

const which = fc.nat({ max: 12 })
const is = <Kind extends string>(kind: Kind) => fc.constant(kind)
const body: fc.Arbitrary<Body> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ is: is('example') }) },
  { weight: 4, arbitrary: fc.record({ is: is('field'), which, json }) },
  { weight: 1, arbitrary: fc.record({ is: is('no field'), which }) },
  { weight: 1, arbitrary: fc.record({ is: is('another field'), name: text, json }) },
  { weight: 1, arbitrary: fc.record({ is: is('field twice'), which, json }) },
  { weight: 1, arbitrary: fc.record({ is: is('cut'), part: fc.nat({ max: 99 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      is: is('bytes'),
      bytes: fc.oneof(
        fc.uint8Array({ maxLength: 300 }),
        json.map((value) => Buffer.from(value)),
      ),
    }),
  },
)

const query: fc.Arbitrary<Query> = fc.oneof(
  fc.record({ is: is('parameter'), which, text, copies: fc.constantFrom(1, 1, 2) }),
  fc.record({
    is: is('text'),
    text: fc.oneof(fc.constantFrom('?', '&&&', '=', 'limit', 'limit=%', '[]=1', 'a[b]=c', '__proto__=1'), text),
  }),
)

const names =
  `X-Operator-Key X-Provider-Key X-Timestamp X-Signature Idempotency-Key Content-Type Content-Encoding Accept Accept-Encoding
  Authorization Cookie Connection Expect Forwarded If-None-Match Origin Range Transfer-Encoding Upgrade X-Forwarded-For
  X-HTTP-Method-Override X-Request-Id traceparent __proto__`.split(/\s+/)
const values = [
  ...`gzip identity text/plain application/xml multipart/form-data */* 100-continue upgrade websocket keep-alive close
    chunked bytes=0-0 DELETE 127.0.0.1 short 0 -1 00-0-0-00 bk_live_x gp_live_x`.split(/\s+/),
  ...['application/json; charset=utf-16', 'Bearer x', 'with space', 'k'.repeat(129)],
  ...['9'.repeat(30), '0'.repeat(64), 'f'.repeat(64)],
]
const headerValue = fc.oneof(fc.constantFrom(...values), text)
const header: fc.Arbitrary<Header> = fc.record({
  name: fc.constantFrom(...names),
  value: fc.option(headerValue),
  twice: fc.boolean(),
})

/** Mostly what is right: a request that is wrong in every way is refused for the first of them. */
const mostly = <T>(right: T, arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(right) }, { weight: 1, arbitrary })

export const hostileRequests = (operations: readonly string[]): fc.Arbitrary<HostileRequest> =>
  fc.record({
    operation: fc.constantFrom(...operations),
    environment: mostly<'sandbox' | 'production'>('sandbox', fc.constant('production')),
    method: mostly<string | null>(
      null,
      fc.constantFrom('GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'FETCH'),
    ),
    id: mostly<HostileRequest['id']>(null, fc.record({ text, encoded: fc.boolean() })),
    tail: mostly('', fc.oneof(fc.constantFrom('/', '//', '/.', '/..', '%2f', ';a=b', '#a', '%'), text)),
    query: mostly<Query | null>(null, query),
    body,
    headers: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(header, { maxLength: 3 }) },
    ),
    signature: mostly<HostileRequest['signature']>('right', fc.constantFrom('wrong', 'none')),
    framing: mostly<Framing>('plain', fc.constantFrom(...framings)),
  })
