import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { root } from '../structure/source-files.ts'
import { listTestFiles, named, readSource } from './files.ts'

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

t.test('a name is a folder of test/, part of a workspace, or a file', async (t) => {
  const files = listTestFiles()
  const placesOf = (...names: string[]) => named(files, names).map(({ place }) => place)
  t.ok(placesOf('e2e').length > 5)
  t.ok(placesOf('e2e').every((place) => place.startsWith('test/e2e/')))
  t.ok(placesOf('wallet').every((place) => place.startsWith('services/wallet/')))
  t.same(placesOf('test/suite/files.test.ts'), ['test/suite/files.test.ts'])
  t.same(placesOf('nothing-of-this-name'), [])
  t.equal(placesOf().length, files.length)
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
