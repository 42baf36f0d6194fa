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
