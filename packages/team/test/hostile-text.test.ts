import { readdirSync, readFileSync } from 'node:fs'
import { Rejection } from '@backoffice/contracts'
import { captured } from '@backoffice/test-kit/captured'
import t from 'tap'
import { rows } from '../src/commands/index.ts'
import { printError } from '../src/output.ts'
import type { AnyRow } from '../src/row.ts'
import { typed } from './typed.ts'
import { wordsFor } from './words.ts'

/** As much of JSON Schema as replies use. */
interface Schema {
  readonly type?: string
  readonly const?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/** What may not reach a terminal as it is. */
const unsafe = [
  ...Array.from({ length: 0x20 }, (_, code) => code),
  ...Array.from({ length: 0x21 }, (_, code) => 0x7f + code),
  // Marks, embeddings, overrides and isolates of direction; separators of lines and paragraphs; invisible characters.
  ...[0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069],
  ...[0x2028, 0x2029, 0xad, 0x200b, 0x200c, 0x200d, 0x2060, 0xfeff, 0xe0041],
].map((code) => String.fromCodePoint(code))
const hostile = `a${unsafe.join('b')}z`

/** A reply of an operation's shape whose every text is hostile. */
const hostileReply = (schema: Schema): unknown => {
  if (schema.type === 'object')
    return Object.fromEntries(
      Object.entries<Schema>(schema.properties ?? {}).map(([name, property]) => [name, hostileReply(property)]),
    )
  if (schema.items !== undefined) return [hostileReply(schema.items), hostileReply(schema.items)]
  if (schema.type === 'string') return hostile
  if (schema.type === 'integer' || schema.type === 'number') return 1
  if (schema.type === 'boolean') return true
  const [first] = schema.anyOf ?? []
  if (first !== undefined) return hostileReply(first)
  return schema.const ?? { anything: hostile }
}

/** They end only for replies of a certain form. They print through the same functions. */
const ofOneForm = [
  ...['wallet reconcile', 'statement export', 'commands end'],
  ...['proposals show', 'proposals approve', 'proposals decline'],
]
const shown = (row: AnyRow) => !ofOneForm.includes(row.path)

for (const row of rows.filter(shown)) {
  t.test(`${row.path}: text of others moves no cursor, makes no row and does not hide`, async (t) => {
    const words = wordsFor(row, 'needed').filter((word) => word !== '--json')
    const reply = () => ({ ...(hostileReply(row.operation.reply as Schema) as object), nextCursor: null })
    const [people, program] = [await typed(words, reply), await typed([...words, '--json'], reply)]
    for (const { stdout, stderr, error } of [people, program]) {
      t.equal(error, undefined)
      for (const text of [stdout.replaceAll('\n', ''), stderr.replaceAll('\n', '')])
        t.same(
          unsafe.filter((character) => text.includes(character)),
          [],
        )
    }
    const lines = (given: () => unknown) => typed(words, given).then(({ stdout }) => stdout.split('\n').length)
    const harmless = JSON.parse(JSON.stringify(reply()).replaceAll(JSON.stringify(hostile), '"a"'))
    t.equal(people.stdout.split('\n').length, await lines(() => harmless), 'as many lines as for harmless text')
    // A row with a `run` prints what it makes of several replies.
    if (row.run !== undefined) return
    const whole = reply() as { readonly data?: unknown }
    t.same(JSON.parse(program.stdout), row.columns === undefined ? whole : whole.data, 'the JSON is whole')
  })
}

t.test('an error that carries text of others is as harmless', async (t) => {
  const rejection = new Rejection('VALIDATION_ERROR', { in: 'body', issues: [{ path: '/name', message: hostile }] })
  for (const json of [false, true]) {
    const { stderr } = await captured(() => printError(rejection, json))
    t.match(stderr, /VALIDATION_ERROR/)
    t.same(
      unsafe.filter((character) => stderr.replaceAll('\n', '').includes(character)),
      [],
    )
  }
  const { stderr } = await captured(() => printError(new Error(hostile.replaceAll('\n', '')), false))
  t.same(
    unsafe.filter((character) => stderr.replaceAll('\n', '').includes(character)),
    [],
  )
})

t.test('nothing is written but by output.ts', async (t) => {
  const source = new URL('../src/', import.meta.url)
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const writes = files.filter((name) =>
    /\bstd(out|err)\.write|\bconsole\.(log|info|warn|error|debug|dir|table)\b/.test(
      readFileSync(new URL(name, source), 'utf8'),
    ),
  )
  t.same(writes, ['output.ts'])
})
