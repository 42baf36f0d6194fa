import t from 'tap'
import { type SourceFile, sourceFiles } from './source-files.ts'

const files = sourceFiles()
const ours = (file: SourceFile) => file.imports.filter((name) => name.startsWith('@backoffice/'))
const under = (folder: string) => files.filter((file) => file.path.startsWith(folder))

/** @returns a line for each import that `allowed` refuses. */
function violations(among: readonly SourceFile[], allowed: (imported: string, file: SourceFile) => boolean): string[] {
  return among.flatMap((file) =>
    file.imports.filter((name) => !allowed(name, file)).map((name) => `${file.path} imports ${name}`),
  )
}

t.test('the source files are found', async (t) => {
  t.ok(under('packages/contracts/src/').length > 5)
})

t.test('contracts imports nothing of ours', async (t) => {
  t.same(under('packages/contracts/src/').flatMap(ours), [])
})

t.test('service-runtime imports only contracts', async (t) => {
  const imported = new Set(under('packages/service-runtime/src/').flatMap(ours))
  imported.delete('@backoffice/contracts')
  t.same([...imported], [])
})

t.test('what stands in deploy imports only contracts', async (t) => {
  t.same(
    violations(under('deploy/'), (name) => name === '@backoffice/contracts' || name.startsWith('node:')),
    [],
  )
  t.ok(under('deploy/').length > 0)
})

t.test('a service imports only contracts and service-runtime, never another service', async (t) => {
  const permitted = ['@backoffice/contracts', '@backoffice/service-runtime']
  const sources = under('services/').filter((file) => file.path.split('/')[2] === 'src')
  t.same(
    violations(sources, (name, file) => {
      // The gateway alone serves the public documents.
      if (name === '@backoffice/documents') return file.path.startsWith('services/gateway/')
      if (name.startsWith('@backoffice/')) return permitted.includes(name)
      const home = file.path.split('/').slice(0, 3).join('/')
      return !/^(services|packages|test|bench)\//.test(name) || name.startsWith(`${home}/`)
    }),
    [],
  )
})

t.test('an example imports the client by its name, as its users do, and nothing else of ours', async (t) => {
  const examples = under('examples/')
  t.ok(examples.length > 0)
  t.same(
    violations(examples, (name) => name === '@backoffice/client' || /^(node:|examples\/)/.test(name)),
    [],
  )
})

t.test('inside a service: domain, then storage, then operations and reactions, then main', async (t) => {
  const mayImport: Record<string, readonly string[]> = {
    domain: ['domain'],
    storage: ['domain', 'storage'],
    operations: ['domain', 'storage', 'operations'],
    reactions: ['domain', 'storage', 'reactions'],
  }
  const layerOf = (path: string) => path.split('/')[3] ?? ''
  t.same(
    violations(under('services/'), (name, file) => {
      if (!name.startsWith('services/') || file.path.split('/')[2] !== 'src') return true
      if (layerOf(name) === 'main.ts') return false
      const layers = mayImport[layerOf(file.path)]
      const imported = layerOf(name)
      // Folders that only one service has, and files beside main, are free for operations, reactions and main.
      const isLayer = imported in mayImport
      if (layers === undefined) return true
      if (layerOf(file.path) === 'domain' || layerOf(file.path) === 'storage') return layers.includes(imported)
      return !isLayer || layers.includes(imported)
    }),
    [],
  )
})

t.test('the domain does no I/O, reads no clock and throws no dice', async (t) => {
  const domain = under('services/').filter((file) => file.path.includes('/src/domain/'))
  const pure = ['@backoffice/contracts', 'node:assert', 'node:assert/strict', 'bignumber.js']
  t.same(
    violations(domain, (name, file) => name.startsWith('services/') || pure.includes(name) || isHash(name, file)),
    [],
  )
  const impure = /Date\.now\(|new Date\(\)|Math\.random\(|process\.env/
  t.same(
    domain.filter((file) => impure.test(file.text)).map((file) => file.path),
    [],
  )
})

/** A hash is a function of its input; the rest of node:crypto is not. */
function isHash(name: string, file: SourceFile): boolean {
  return (
    name === 'node:crypto' &&
    /import \{ (createHash|createHmac)(, (createHash|createHmac))* \} from 'node:crypto'/.test(file.text)
  )
}
