import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
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
  readonly tests: readonly string[]
  readonly tiers: ReadonlySet<Tier>
}

/** Tests by a path, a folder, or the end of a path. */
const testsBy = (name: string) =>
  files.filter(({ place }) => place.endsWith(`/${name}`) || place === name || place.startsWith(`${name}/`))

/** Of each line such as `- **A promise.** An attack. `a.test.ts``, and of each row of a table of promises: its cells. */
function linesIn(text: string): readonly (readonly string[])[] {
  const items = [...text.matchAll(/^- \*\*(.+?\.)\*\*(.*)$/gm)].map(([, said = '', after = '']) => [said, after])
  const tables = [...text.matchAll(/^\| promise \|.*\n\|[-|]+\|\n((?:\|.*\n)+)/gm)]
  const rows = tables.flatMap(([, body = '']) => body.trim().split('\n'))
  return [...items, ...rows.map((row) => row.split('|').slice(1, -1))]
}

/** Those of a document, before what it does not promise. */
function promisesIn(document: string): readonly Promised[] {
  const [text = ''] = readFileSync(join(root, document), 'utf8').split(/^## (?:Accepted risks|The machine)$/m)
  return linesIn(text).map((cells) => {
    const tests = [...(cells.at(-1) ?? '').matchAll(/`([\w.-]+\/[\w./-]+|[\w.-]+\.ts)`/g)].map(([, name = '']) => name)
    const tiers = new Set(tests.flatMap((name) => testsBy(name).map(({ tier }) => tier)))
    return { promise: (cells[0] ?? '').trim(), tests, tiers }
  })
}

for (const document of ['docs/reliability.md', 'docs/security.md']) {
  t.test(`each promise of ${document} names tests that are there, and one of npm test`, async (t) => {
    const promises = promisesIn(document)
    t.ok(promises.length > 10)
    t.same(
      promises.flatMap(({ promise, tests }) =>
        tests.filter((name) => testsBy(name).length === 0).map((name) => `${promise}: ${name}`),
      ),
      [],
    )
    t.same(
      promises
        .filter(
          ({ promise, tiers }) => !tiers.has('test') && !shownElsewhere.some((start) => promise.startsWith(start)),
        )
        .map(({ promise }) => promise),
      [],
    )
  })
}
