import t from 'tap'
import { differences, testsOf } from './changed.ts'
import { listTestFiles } from './files.ts'

const tests = listTestFiles().filter(({ tier }) => tier === 'test')
const chosen = (...changed: string[]) =>
  testsOf({ files: changed, dependencies: [] }, tests)
    .map(({ place }) => place)
    .filter((place) => !place.startsWith('test/structure/'))

t.test('of a source file: tests of its workspace that reach it', async (t) => {
  const places = chosen('packages/vault/src/vault.ts')
  t.ok(places.includes('packages/vault/test/vault.test.ts'))
  t.ok(places.every((place) => place.startsWith('packages/vault/')))
})

t.test('of a test, and of what only tests use: the tests themselves', async (t) => {
  t.same(
    chosen('test/suite/order.ts').filter((place) => !place.startsWith('test/suite/')),
    [],
  )
  t.same(chosen('test/suite/files.test.ts'), ['test/suite/files.test.ts'])
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
  const places = testsOf({ files: [], dependencies: ['undici'] }, tests).map(({ place }) => place)
  t.ok(places.some((place) => place.startsWith('services/gateway/test/http/')))
})

t.test('whatever changes, the rules about all files are tested', async (t) => {
  const places = testsOf({ files: ['README.md'], dependencies: [] }, tests).map(({ place }) => place)
  t.ok(places.includes('test/structure/documents.test.ts'))
})
