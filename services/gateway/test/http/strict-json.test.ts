import fc from 'fast-check'
import t from 'tap'
import { parseStrictJson, StrictJsonError } from '../../src/http/routes.ts'

const parse = (text: string) => parseStrictJson(Buffer.from(text))

t.test('what any JSON parser reads alike is read', async (t) => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value)
      fc.pre(
        !text.includes('\\u0000') &&
          !/\\ud[89a-f]/i.test(text) &&
          !text.includes('"__proto__"') &&
          !/\d{16,}/.test(text),
      )
      t.strictSame(parse(text), JSON.parse(text))
    }),
    { numRuns: 200 },
  )
})

t.test('what two parsers could read differently is refused, with the place', async (t) => {
  const refused: readonly [string | Buffer, string][] = [
    ['{"a":1,"a":1}', '/a'],
    ['{"a":{"b":1,"b":2}}', '/a/b'],
    ['{"a":1,"\\u0061":2}', '/a'],
    ['{"__proto__":{}}', '/__proto__'],
    ['{"a":"x\\u0000y"}', '/a'],
    ['{"a":["\\ud800"]}', '/a/0'],
    ['{"a":9007199254740993}', '/a'],
    ['{"a":1e999}', '/a'],
    ['{"a":1,}', ''],
    ['{a:1}', ''],
    ['{"a":1} x', ''],
    ['\ufeff{}', ''],
    ['// c\n{}', ''],
    ['', ''],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), ''],
    ['['.repeat(40) + ']'.repeat(40), ''],
    ['['.repeat(30_000), ''],
  ]
  for (const [source, path] of refused) {
    const attempt = () => parseStrictJson(Buffer.from(source as string))
    t.throws(attempt, StrictJsonError, String(source).slice(0, 40))
    try {
      attempt()
    } catch (error) {
      t.equal((error as StrictJsonError).path, path)
    }
  }
})
