import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { root } from './source-files.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')

/**
 * The list of docs/conformance.md: below each statement its tests, a line each, and from which it departs. `(24)` is the
 * first test of 24.
 */
const departure = /^ {3}departs: \[(.*)\]\(departures\.md#departures\)$/m
const rows = [...read('docs/conformance.md').matchAll(/^(\d+)\. (.*)\n((?: {3}.*\n)*)/gm)].map(
  ([, number, statement = '', tests = '']) => ({
    number: Number(number),
    statement,
    cells: tests.split('\n').flatMap((line) => (departure.test(line) ? [] : line.trim() || [])),
    departs: departure.exec(tests)?.[1],
  }),
)
const statements = rows.map((row) => ({
  ...row,
  tests: row.cells.flatMap((cell) => {
    const [, other] = /^\((\d+)\)$/.exec(cell) ?? []
    const [, file, title] = /^`(\S+) › (.*)`$/.exec(other ? (rows[Number(other) - 1]?.cells[0] ?? '') : cell) ?? []
    return file && title ? [{ file, title }] : []
  }),
}))

/** As they are written: `${…}` stays where a title is made for each of a list. */
function titlesIn(file: string): ReadonlySet<string> {
  if (!existsSync(join(root, file))) return new Set()
  const titles = read(file).matchAll(/\.test\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`([^`]*)`)/g)
  return new Set(
    [...titles].map(([, single, double, template]) => (single ?? double ?? template ?? '').replaceAll('\\', '')),
  )
}

/** A title of the document that ends in `…` is how one title of the file begins, and no second one. */
function isIn(titles: ReadonlySet<string>, title: string): boolean {
  if (!title.endsWith('…')) return titles.has(title)
  return [...titles].filter((whole) => whole.startsWith(title.slice(0, -1))).length === 1
}

t.test('the statements of the document are numbered without a gap', async (t) => {
  t.ok(statements.length >= 118)
  t.same(
    statements.map(({ number }) => number),
    statements.map((_, index) => index + 1),
  )
})

t.test('each has a test, and each test that is named is there', async (t) => {
  const titles = new Map(statements.flatMap(({ tests }) => tests).map(({ file }) => [file, titlesIn(file)]))
  for (const { number, statement, tests, cells } of statements) {
    t.ok(tests.length > 0 && tests.length === cells.length, `${number}: ${statement}`)
    for (const { file, title } of tests)
      t.ok(isIn(titles.get(file) ?? new Set(), title), `${number}: ${file} › ${title}`)
  }
})

t.test('each departure stands beside the statement that it departs from, and in decision 0015', async (t) => {
  const [, table = ''] = read('docs/departures.md').split('## Departures')
  const [firstTable = ''] = table.split('\n\nOf the tools')
  const matters = [...firstTable.matchAll(/^\| (.*?) \|/gm)].map(([, matter = '']) => matter).slice(1)
  t.ok(matters.length > 4)
  t.same(statements.flatMap(({ departs }) => departs ?? []).sort(), matters.sort())
})
