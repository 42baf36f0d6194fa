import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { root } from '../structure/source-files.ts'
import { differences, testsOf } from './changed.ts'
import { listTestFiles, readSource } from './files.ts'

const tests = listTestFiles().filter(({ tier }) => tier === 'test')
const chosen = (...changed: string[]) =>
  testsOf({ files: changed, dependencies: [] }, tests, () => 0)
    .map(({ place }) => place)
    .filter((place) => !place.startsWith('test/structure/'))

t.test('of a source file: tests of its workspace that reach it', async (t) => {
  const places = chosen('packages/database/src/vault.ts')
  t.ok(places.includes('packages/database/test/vault.test.ts'))
  t.ok(places.every((place) => place.startsWith('packages/database/')))
})

t.test('of a test, and of what only tests use: the tests themselves', async (t) => {
  t.same(
    chosen('test/suite/pace.ts').filter((place) => !place.startsWith('test/suite/')),
    [],
  )
  t.same(chosen('test/suite/suite.test.ts'), ['test/suite/suite.test.ts'])
})

t.test('of what most tests reach: the nearest, in time, rules about all files, what changed itself', async (t) => {
  const changes = { files: ['packages/rpc/src/server.ts', 'test/e2e/hostile.test.ts'], dependencies: [] }
  t.ok(testsOf(changes, tests, () => 0).length > tests.length / 2)
  const some = testsOf(changes, tests, () => 3).map(({ place }) => place)
  t.equal(some.length, 20)
  t.ok(some.includes('test/structure/documents.test.ts'))
  t.ok(some.some((place) => place.startsWith('packages/service-runtime/')))
  t.match(
    testsOf(changes, tests, () => 61),
    [{ place: 'test/e2e/hostile.test.ts' }],
  )
})

t.test('of a manifest or a document: tests that name it or its folder', async (t) => {
  t.ok(chosen('deploy/k8s/base/kustomization.yaml').includes('test/manifests/workloads.test.ts'))
  t.ok(chosen('docs/privacy.md').includes('test/privacy/inventory.test.ts'))
})

t.test('of another version of a dependency: tests of the files that import it', async (t) => {
  const lock = (version: string) => ({
    '': { name: 'root', version },
    'node_modules/undici': { version },
    'node_modules/a/node_modules/@types/b': { version },
    'node_modules/c': { version: '1.0.0' },
  })
  const [before, now] = ['1.0.0', '2.0.0'].map((version) => JSON.stringify({ packages: lock(version) }))
  t.same(differences(before ?? '', now ?? ''), ['undici', '@types/b'])
  const places = testsOf({ files: [], dependencies: ['undici'] }, tests, () => 0).map(({ place }) => place)
  t.ok(places.some((place) => place.startsWith('services/gateway/test/http/')))
})

t.test('what a file says in its first comments', async (t) => {
  const text = "import t from 'tap'\n"
  t.match(readSource(text), { tier: 'test', waits: false, sharesSystem: false, mayShareProcess: true })
  t.match(readSource(`// proof: it takes long.\n// waits: for a server.\n\n${text}`), { tier: 'proofs', waits: true })
  t.match(readSource(`${text}// proof: too late to be said\n`), { tier: 'test' })
  t.match(readSource(`${text}const system = await sharedSystem(t)\n`), { sharesSystem: true, mayShareProcess: true })
  t.match(readSource(`// In a process of its own: its exit status is under test.\n\n${text}`), {
    mayShareProcess: false,
  })
})

t.test('no file waits between its tests: tap ends when those are over, and what follows would never run', async (t) => {
  const isUnawaited = (line: string) => /^ {0,2}t\.test\(/.test(line)
  const waits = (line: string) => /^(?:const .*= )?await (?!t\.test)/.test(line)
  for (const { place } of listTestFiles()) {
    const lines = readFileSync(join(root, place), 'utf8').split('\n')
    const first = lines.findIndex(isUnawaited)
    t.same(first < 0 ? [] : lines.slice(first).filter(waits), [], place)
  }
})
