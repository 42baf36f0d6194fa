import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { findNamedMutants, namedMutants } from '../mutants/named.ts'
import { listTestFiles, type Tier } from '../suite/files.ts'
import { root } from './source-files.ts'

const files = listTestFiles()

/** Promises that proofs alone show, since it takes a server that is lost or full, and one that a command shows. */
const shownElsewhere = [
  'A full disk stops work',
  'On a restored copy every service works',
  'No secret is in the repository',
]

interface Promised {
  readonly promise: string
  /** What a line names before `proofs:`, and behind it. */
  readonly tests: Readonly<Record<Tier, readonly string[]>>
}

/** Whether a tier has a test by a path, a folder, or the end of a path. */
const has = (name: string, among: Tier) =>
  files.some(
    ({ place, tier }) =>
      tier === among && (place.endsWith(`/${name}`) || place === name || place.startsWith(`${name}/`)),
  )

const namesIn = (text: string) => [...text.matchAll(/`([\w.-]+\/[\w./-]+|[\w.-]+\.ts)`/g)].map(([, name = '']) => name)

/** Each line such as `- **A promise.** An attack. `a.test.ts`; proofs: `b.test.ts`` before what is not promised. */
function promisesIn(document: string): readonly Promised[] {
  const [text = ''] = readFileSync(join(root, document), 'utf8').split(/^## (?:Accepted risks|The machine)$/m)
  return [...text.matchAll(/^- \*\*(.+?\.)\*\*(.*)$/gm)].map(([, promise = '', after = '']) => {
    const [first = '', behind = ''] = after.split(/\bproofs: /i)
    return { promise, tests: { test: namesIn(first), proofs: namesIn(behind) } }
  })
}

for (const document of ['docs/reliability.md', 'docs/security.md']) {
  t.test(`each promise of ${document} names tests that are there, by their tier, and one of npm test`, async (t) => {
    const promises = promisesIn(document)
    t.ok(promises.length > 10)
    for (const tier of ['test', 'proofs'] as const)
      t.same(
        promises.flatMap(({ promise, tests }) =>
          tests[tier].filter((name) => !has(name, tier)).map((name) => `${promise}: ${name}`),
        ),
        [],
        tier,
      )
    t.same(
      promises
        .filter(
          ({ promise, tests }) => tests.test.length === 0 && !shownElsewhere.some((start) => promise.startsWith(start)),
        )
        .map(({ promise }) => promise),
      [],
    )
  })
}

const read = (path: string) => readFileSync(join(root, path), 'utf8')

/**
 * A numbered list: below each statement its tests, a line each, and from which it departs. `(24)` is the first test of 24.
 */
const departure = /^ {3}departs: \[(.*)\]\(departures\.md#departures\)$/m
function statementsOf(text: string) {
  const rows = [...text.matchAll(/^(\d+)\. (.*)\n((?: {3}.*\n)*)/gm)].map(([, number, statement = '', tests = '']) => ({
    number: Number(number),
    statement,
    cells: tests.split('\n').flatMap((line) => (departure.test(line) ? [] : line.trim() || [])),
    departs: departure.exec(tests)?.[1],
  }))
  return rows.map((row) => ({
    ...row,
    tests: row.cells.flatMap((cell) => {
      const [, other] = /^\((\d+)\)$/.exec(cell) ?? []
      const [, file, title] = /^`(\S+) › (.*)`$/.exec(other ? (rows[Number(other) - 1]?.cells[0] ?? '') : cell) ?? []
      return file && title ? [{ file, title }] : []
    }),
  }))
}
const statements = statementsOf(read('docs/conformance.md'))
const [, textOfPlay = ''] = read('docs/providers-cases.md').split(/^## [B-Z].*$/m)

/** As they are written: `${…}` stays where a title is made for each of a list. */
function titlesIn(file: string): ReadonlySet<string> {
  if (!existsSync(join(root, file))) return new Set()
  const titles = read(file).matchAll(/\.test\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`([^`]*)`)/g)
  return new Set(
    [...titles].map(([, single, double, template]) => (single ?? double ?? template ?? '').replaceAll('\\', '')),
  )
}

/** The cases of play that a title names: `B21 …`, `B9, B10 …`, `B1–B6: …`. */
function casesIn(title: string): readonly number[] {
  const [named = ''] = /^(?:[AB]\d+(?:[-–][AB]\d+)?[,: ]+)+/.exec(title) ?? []
  return [...named.matchAll(/\bB(\d+)(?:[-–]B(\d+))?/g)].flatMap(([, from, to = from]) =>
    Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index),
  )
}

const testsOfPlay = files.flatMap(({ place }) =>
  [...titlesIn(place)].flatMap((title) => casesIn(title).map((number) => ({ number, test: { file: place, title } }))),
)
const casesOfPlay = statementsOf(textOfPlay).map((row) => {
  const numbered = testsOfPlay.flatMap(({ number, test }) => (number === row.number ? test : []))
  return { ...row, tests: [...numbered, ...row.tests], cells: [...numbered.map(({ title }) => title), ...row.cells] }
})
const lists = [
  ['the statements of the document', statements, 118],
  ['the cases of play', casesOfPlay, 50],
] as const

/** A title of the document that ends in `…` is how one title of the file begins, and no second one. */
function isIn(titles: ReadonlySet<string>, title: string): boolean {
  if (!title.endsWith('…')) return titles.has(title)
  return [...titles].filter((whole) => whole.startsWith(title.slice(0, -1))).length === 1
}

for (const [name, all, least] of lists) {
  t.test(`${name} are numbered without a gap`, async (t) => {
    t.ok(all.length >= least)
    t.same(
      all.map(({ number }) => number),
      all.map((_, index) => index + 1),
    )
  })

  t.test(`each of ${name} has a test, and each test that is named is there`, async (t) => {
    const titles = new Map(all.flatMap(({ tests }) => tests).map(({ file }) => [file, titlesIn(file)]))
    for (const { number, statement, tests, cells } of all) {
      t.ok(tests.length > 0 && tests.length === cells.length, `${number}: ${statement}`)
      for (const { file, title } of tests)
        t.ok(isIn(titles.get(file) ?? new Set(), title), `${number}: ${file} › ${title}`)
    }
  })
}

t.test('each departure stands beside the statement that it departs from, and in decision 0015', async (t) => {
  const [, table = ''] = read('docs/departures.md').split('## Departures')
  const [firstTable = ''] = table.split('\n\nOf the tools')
  const matters = [...firstTable.matchAll(/^\| (.*?) \|/gm)].map(([, matter = '']) => matter).slice(1)
  t.ok(matters.length > 4)
  t.same(statements.flatMap(({ departs }) => departs ?? []).sort(), matters.sort())
})

t.test('each guard stands in the sources as its mutant knows it, and has its test', async (t) => {
  t.equal(findNamedMutants().length, namedMutants.length)
})
