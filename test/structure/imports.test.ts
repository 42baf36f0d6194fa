import { type ServiceName, serviceNames } from '@backoffice/contracts'
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

t.test('service-runtime imports only contracts and who the team is, which imports only contracts', async (t) => {
  const importedBy = (name: string) => [...new Set(under(`packages/${name}/src/`).flatMap(ours))].sort()
  t.same(importedBy('service-runtime'), [
    '@backoffice/contracts',
    '@backoffice/team-identity',
    '@backoffice/team-identity/settings',
  ])
  t.same(importedBy('team-identity'), ['@backoffice/contracts', '@backoffice/contracts/team'])
})

/** The part of a folder that a file belongs to: a folder in it, or a file that stands alone. */
const partOf = (path: string, folder: string) => path.slice(folder.length).split('/')[0] ?? ''

/**
 * Parts of one rank use all ranks before theirs, and not each other.
 * @returns a line for each import that runs the other way, and for each part that no rank names
 */
function againstOrder(folder: string, ranks: readonly (readonly string[])[]): string[] {
  const rankOf = (path: string) => ranks.findIndex((parts) => parts.includes(partOf(path, folder)))
  const files = under(folder)
  const unknown = new Set(files.filter(({ path }) => rankOf(path) < 0).map(({ path }) => partOf(path, folder)))
  const inside = (name: string, file: SourceFile) =>
    !name.startsWith(folder) || partOf(name, folder) === partOf(file.path, folder) || rankOf(name) < rankOf(file.path)
  return [...[...unknown].map((part) => `${folder}${part} has no place in the order`), ...violations(files, inside)]
}

t.test('inside service-runtime each room uses only the rooms before it', async (t) => {
  const ranks = [
    ['process', 'validation', 'telemetry'],
    ['database'],
    ['messages'],
    ['outbox'],
    ['operations'],
    ['service.ts'],
    ['run.ts'],
    ['index.ts', 'client.ts', 'internal.ts', 'standalone.ts'],
  ]
  t.same(againstOrder('packages/service-runtime/src/', ranks), [])
})

t.test('service-runtime is used by its faces', async (t) => {
  const src = 'packages/service-runtime/src/'
  const outside = files.filter(({ path }) => !path.startsWith('packages/service-runtime/'))
  t.same(
    violations(outside, (name) => !name.startsWith(src)),
    [],
  )
})

t.test('what stands in deploy imports only contracts and its neighbours', async (t) => {
  t.same(
    violations(
      under('deploy/'),
      (name) => name === '@backoffice/contracts' || name.startsWith('node:') || name.startsWith('deploy/'),
    ),
    [],
  )
  t.ok(under('deploy/').length > 0)
})

t.test('a service imports only contracts and service-runtime, never another service', async (t) => {
  const permitted = ['@backoffice/contracts', '@backoffice/service-runtime']
  const ofTheGames = ['@backoffice/contracts/money', '@backoffice/service-runtime/standalone']
  const faces = ['@backoffice/service-runtime/client', '@backoffice/service-runtime/standalone']
  const ofTheConsole = ['@backoffice/contracts', '@backoffice/team-identity', ...faces]
  const sources = under('services/').filter((file) => file.path.split('/')[2] === 'src')
  t.same(
    violations(sources, (name, file) => {
      // The gateway alone serves the public documents. What makes them is loaded in their thread, not beside requests.
      if (name === '@backoffice/documents') return file.path === 'services/gateway/src/http/document-worker.ts'
      if (name === '@backoffice/documents/served') return file.path.startsWith('services/gateway/')
      if (name === 'services/gateway/src/http/document-worker.ts') return false
      // The migrator loads a service's migrations alone, so they load no more of the runtime than they need.
      if (name === '@backoffice/service-runtime/migrations') return file.path.includes('/src/storage/migrations/')
      // The games are no service, and take of both only what needs little memory.
      if (file.path.startsWith('services/games/') && name.startsWith('@backoffice/')) return ofTheGames.includes(name)
      // The console is no service either: it signs calls and passes them on.
      if (file.path.startsWith('services/console/') && name.startsWith('@backoffice/'))
        return ofTheConsole.includes(name)
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

/** Folders that one service has for itself; each uses those before it. */
const ownRooms: Readonly<Record<ServiceName, readonly string[]>> = {
  gateway: ['http'],
  players: ['provider'],
  wallet: [],
  payments: [],
  webhooks: ['sending', 'schedule'],
  reconciler: ['heads', 'reconciliation'],
}

for (const service of serviceNames) {
  t.test(`inside ${service} imports go one way, and every folder has its place`, async (t) => {
    const ranks = [
      ['domain'],
      ['storage'],
      ['views'],
      ['steps'],
      ['settings.ts'],
      ...ownRooms[service].map((room) => [room]),
      ['operations', 'reactions', 'background', 'measurements.ts'],
      ['service.ts'],
      ['main.ts'],
    ]
    t.same(againstOrder(`services/${service}/src/`, ranks), [])
  })

  t.test(`the program of ${service} is one call`, async (t) => {
    const [main] = under(`services/${service}/src/main.ts`)
    t.same(main?.text.trim().split(/\n+/), [
      "import { runService } from '@backoffice/service-runtime'",
      `import { ${service} } from './service.ts'`,
      `await runService(${service})`,
    ])
  })
}

t.test('inside the games imports go one way', async (t) => {
  const ranks = [['domain'], ['storage'], ['thumbnails.ts'], ['settings.ts'], ['http'], ['program.ts'], ['main.ts']]
  t.same(againstOrder('services/games/src/', ranks), [])
})

t.test('the domain does no I/O, reads no clock and throws no dice', async (t) => {
  const domain = under('services/').filter((file) => file.path.includes('/src/domain/'))
  const pure = ['@backoffice/contracts', 'node:assert', 'node:assert/strict', 'bignumber.js', 'ipaddr.js']
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

// What replicas share is judged by PostgreSQL's clock, which a batch's first statement reads. A command is handed it as
// `now`; the process's own clock, which may be wrong, is only for durations.
t.test("no operation and no statement of a service reads the process's clock", async (t) => {
  const deciding = under('services/').filter(({ path }) => /\/src\/(operations|steps|storage|views)\//.test(path))
  t.ok(deciding.length > 100)
  // When a caller stops waiting is a duration.
  const reads = /\bclock\b|(?<!deadline\.getTime\(\) <= )Date\.now\(|new Date\(\)/
  const code = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*|-- .*/g, '')
  t.same(
    deciding.filter(({ text }) => reads.test(code(text))).map(({ path }) => path),
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
