import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type ServiceName, serviceNames } from '@backoffice/contracts'
import t from 'tap'
import { root, type SourceFile, sourceFiles } from './source-files.ts'

const files = sourceFiles()
const ours = (file: SourceFile) => file.imports.filter((name) => name.startsWith('@backoffice/'))
const under = (folder: string) => files.filter((file) => file.path.startsWith(folder))

/** @returns a line for each import that `allowed` refuses. */
function violations(among: readonly SourceFile[], allowed: (imported: string, file: SourceFile) => boolean): string[] {
  return among.flatMap((file) =>
    file.imports.filter((name) => !allowed(name, file)).map((name) => `${file.path} imports ${name}`),
  )
}

/** What each package may import of ours, by the names of packages. */
const below: Readonly<Record<string, readonly string[]>> = {
  contracts: [],
  process: ['contracts'],
  'team-rows': ['contracts'],
  database: ['contracts', 'process'],
  rpc: ['contracts', 'process'],
  'service-runtime': ['contracts', 'database', 'process', 'rpc'],
  'team-access': ['contracts', 'database', 'process', 'rpc', 'service-runtime'],
}

for (const [name, packages] of Object.entries(below))
  t.test(`${name} imports only packages below it`, async (t) => {
    const sources = under(`packages/${name}/src/`)
    t.ok(sources.length > 0)
    const used = new Set(sources.flatMap(ours).map((imported) => imported.split('/')[1] ?? ''))
    used.delete(name)
    t.same([...used].sort(), packages)
  })

t.test('the command line signs calls, and loads no service for it', async (t) => {
  t.same([...new Set(under('packages/team-access/src/identity/').flatMap(ours))].sort(), [
    '@backoffice/contracts',
    '@backoffice/contracts/team',
    '@backoffice/rpc/seal',
  ])
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
    ['batcher.ts'],
    ['database'],
    ['settings.ts'],
    ['messages'],
    ['outbox'],
    ['commands'],
    ['service.ts'],
    ['index.ts', 'testing.ts'],
  ]
  t.same(againstOrder('packages/service-runtime/src/', ranks), [])
})

for (const name of ['database', 'process', 'rpc', 'service-runtime', 'team-access']) {
  t.test(`${name} is used by its faces`, async (t) => {
    const outside = files.filter(({ path }) => !path.startsWith(`packages/${name}/`))
    t.same(
      violations(outside, (imported) => !imported.startsWith(`packages/${name}/src/`)),
      [],
    )
  })
}

t.test('what every program and every service is built on knows no word of this business', async (t) => {
  const words = /deposit|withdraw|\bkyc|\bpix\b|player|\bcpf\b|wallet|payment|jackpot|\bbet\b/i
  const names = ['database', 'process', 'rpc', 'service-runtime']
  const packages = names.flatMap((name) => under(`packages/${name}/src/`))
  // What is struck out of every log, whoever writes it.
  const isNamed = (line: string) => line.includes("paths: ['secret'")
  const lines = packages.flatMap(({ path, text }) => text.split('\n').map((line) => ({ path, line })))
  t.same(
    lines.filter(({ line }) => words.test(line) && !isNamed(line)).map(({ path, line }) => `${path}: ${line.trim()}`),
    [],
  )
})

t.test('a second person, proposals and the trail are no matter of rpc and the runtime', async (t) => {
  const words = /propos|twoPeople|second person|audit_|team_/i
  // What a handler may say is declared there, and is asked by who governs its operation.
  const declares = ['packages/service-runtime/src/commands/handle.ts', 'packages/service-runtime/src/index.ts']
  const sources = ['rpc', 'service-runtime'].flatMap((name) => under(`packages/${name}/src/`))
  const code = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
  t.same(
    sources.filter(({ path, text }) => !declares.includes(path) && words.test(code(text))).map(({ path }) => path),
    [],
  )
})

t.test('what stands in deploy imports only contracts, a reader of YAML and its neighbours', async (t) => {
  t.same(
    violations(
      under('deploy/'),
      (name) =>
        ['@backoffice/contracts', 'yaml'].includes(name) || name.startsWith('node:') || name.startsWith('deploy/'),
    ),
    [],
  )
  t.ok(under('deploy/').length > 0)
})

/** What programs may import of ours: services, and those that are none. */
const ofServices = ['contracts', 'database/vault', 'process', 'process/addresses', 'rpc', 'service-runtime']
const ofTheConsole = ['contracts', 'process', 'rpc', 'team-access/identity', 'team-rows']
const permitted: Readonly<Record<string, readonly string[]>> = {
  services: [...ofServices, 'team-access', 'team-access/identity'],
  // They take of both only what needs little memory.
  games: ['contracts/formats', 'contracts/signing', 'process', 'database'],
  // It passes calls on.
  console: ofTheConsole,
  // Where a stack of npm start runs, its people are known.
  'team-cli': [...ofTheConsole, 'process/limits', 'process/progress', 'team-access/login', 'local-stack'],
}

t.test('a service imports only contracts and what services are built on, never another service', async (t) => {
  const sources = under('services/').filter((file) => file.path.split('/')[2] === 'src')
  t.same(
    violations(sources, (name, { path }) => {
      const [, program = ''] = path.split('/')
      // The gateway alone serves the public documents. What makes them is loaded in their thread, not beside requests.
      if (name === '@backoffice/api-docs') return path === 'services/gateway/src/http/document-worker.ts'
      if (name === '@backoffice/api-docs/served') return program === 'gateway'
      if (name === 'services/gateway/src/http/document-worker.ts') return false
      // The migrator loads a service's migrations alone, so they load no more of the team's plugin than they need.
      if (name === '@backoffice/team-access/migrations') return path.includes('/src/storage/migrations/')
      // It knows every schema.
      if (program === 'migrator' && name.endsWith('/migrations')) return true
      if (name.startsWith('@backoffice/'))
        return (permitted[program] ?? permitted.services)?.includes(name.replace('@backoffice/', '')) ?? false
      // The console reads times as the module does that signs in the browser.
      const own = ['src/', 'package.json', ...(program === 'console' ? ['assets/'] : [])]
      return (
        !/^(services|packages|local|test)\//.test(name) ||
        own.some((place) => name.startsWith(`services/${program}/${place}`))
      )
    }),
    [],
  )
})

t.test('packages are libraries: none imports a service, or what only developers run', async (t) => {
  const programs = new Set(
    globSync('{services,local}/*/package.json', { cwd: root }).map(
      (path) => (JSON.parse(readFileSync(join(root, path), 'utf8')) as { name: string }).name,
    ),
  )
  const nameOf = (imported: string) => imported.split('/').slice(0, 2).join('/')
  const libraries = under('packages/').filter(({ path }) => path.split('/')[2] === 'src')
  t.ok(programs.size > 10 && libraries.length > 100)
  t.same(
    violations(libraries, (name) => !programs.has(nameOf(name)) && !/^(services|local|test)\//.test(name)),
    [],
  )
})

t.test('no files import each other in a circle, be it by type', async (t) => {
  const faces = new Map(
    globSync('{packages,services,local}/*/package.json', { cwd: root }).flatMap((path) => {
      const { name, exports = {} } = JSON.parse(readFileSync(join(root, path), 'utf8')) as {
        name: string
        exports?: Record<string, string | { types: string }>
      }
      return Object.entries(exports).map(([face, file]) => [
        join(name, face),
        join(dirname(path), typeof file === 'string' ? file : file.types),
      ])
    }),
  )
  const resolved = files.map((file) => ({ ...file, imports: file.imports.map((name) => faces.get(name) ?? name) }))
  t.same(circleIn(resolved), [])
})

t.test('an example imports the client by its name, as its users do, and nothing else of ours', async (t) => {
  const examples = under('examples/')
  t.ok(examples.length > 0)
  t.same(
    violations(examples, (name) => name === '@backoffice/client' || /^(node:|examples\/)/.test(name)),
    [],
  )
})

/**
 * The nouns of a service: each has a folder, and whoever opens it has seen all of it. Among files of one layer, a folder
 * uses those before it.
 */
const nounsOf: Readonly<Record<ServiceName, readonly string[]>> = {
  gateway: ['operators', 'sessions', 'claims', 'requests', 'http', 'providers'],
  players: ['players', 'kyc', 'games', 'play'],
  wallet: ['rounds', 'ledger', 'statement', 'money', 'corrections', 'storage', 'background'],
  payments: ['deposits', 'files', 'withdrawals', 'players'],
  webhooks: ['endpoints', 'deliveries', 'sending'],
  reconciler: ['storage', 'heads', 'reconciliation', 'background'],
}

/** What a noun's folder is made of: each uses those before it. What says nothing of itself is a step. */
const layers = ['rules', 'records', 'views', 'step', 'operations', 'operations.ts', 'service.ts', 'main.ts'] as const
type Layer = (typeof layers)[number]

/** By the name of the file, or its first words: `// Rules.` */
function layerOf({ path, text }: SourceFile): Layer {
  const [, , , ...place] = path.split('/')
  const name = place.at(-1) ?? ''
  if (place.length === 1 && layers.includes(name as Layer)) return name as Layer
  if (place[0] === 'migrations' || place.includes('migrations')) return 'records'
  // It is read by those who are given settings.
  if (path.endsWith('/src/settings.ts')) return 'views'
  // They put together what the folders have.
  if (/\/src\/(measurements|listeners)\.ts$/.test(path)) return 'operations'
  const said = /^(\w+)\.ts$/.exec(name)?.[1] ?? ''
  const first = /^\/\/ (\w+)\./.exec(text)?.[1]?.toLowerCase() ?? ''
  return ([said, first].find((word) => (layers as readonly string[]).includes(word)) as Layer | undefined) ?? 'step'
}

/** The files of a service that are arranged by nouns, with their layer and the rank of their folder. */
function placesIn(service: ServiceName) {
  const src = `services/${service}/src/`
  const folders = ['', ...nounsOf[service]]
  const places = under(src).map((file) => {
    const folder = file.path.slice(src.length).split('/').slice(0, -1).join('/')
    const isMigration = folder === 'migrations' || folder === 'storage/migrations'
    return [file.path, { file, folder, layer: layerOf(file), rank: isMigration ? 0 : folders.indexOf(folder) }] as const
  })
  return new Map(places)
}

/** Files that import each other in a circle, be it by type; the first circle that is found. */
function circleIn(files: readonly SourceFile[]): readonly string[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const done = new Set<string>()
  const visit = (path: string, way: readonly string[]): readonly string[] => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path]
    if (done.has(path)) return []
    for (const next of byPath.get(path)?.imports ?? []) {
      const circle = byPath.has(next) ? visit(next, [...way, path]) : []
      if (circle.length > 0) return circle
    }
    done.add(path)
    return []
  }
  return files.map(({ path }) => visit(path, [])).find((circle) => circle.length > 0) ?? []
}

for (const service of serviceNames) {
  t.test(`inside ${service} each noun has its folder, in which imports go one way`, async (t) => {
    const places = placesIn(service)
    t.ok(places.size > 10)
    const unknown = [...places.values()].filter(({ rank }) => rank < 0).map(({ file }) => file.path)
    t.same(unknown, [], 'every folder has its place in the order')
    const against = [...places.values()].flatMap(({ file, layer, folder, rank }) =>
      file.imports.flatMap((name) => {
        const imported = places.get(name)
        if (imported === undefined) return []
        const [here, there] = [layers.indexOf(layer), layers.indexOf(imported.layer)]
        const isBefore = here === there && layer !== 'operations' && imported.rank < rank
        const isAllowed = there < here || (here === there && (imported.folder === folder || isBefore))
        return isAllowed ? [] : [`${file.path} (${layer}) imports ${name} (${imported.layer})`]
      }),
    )
    t.same(against, [])
    t.same(circleIn([...places.values()].map(({ file }) => file)), [])
  })
}

/** Programs that are no service: what faces browsers. */
const ranksOfPrograms: Readonly<Record<string, readonly (readonly string[])[]>> = {
  games: [['domain'], ['storage'], ['thumbnails.ts', 'wallet-provider.ts'], ['settings.ts'], ['context.ts'], ['http']],
  console: [['settings.ts', 'words'], ['identity'], ['context.ts'], ['pieces'], ['pages'], ['http']],
}

for (const [program, ranks] of Object.entries(ranksOfPrograms)) {
  t.test(`inside the ${program} imports go one way, and in no circle`, async (t) => {
    const folder = `services/${program}/src/`
    t.same(againstOrder(folder, [...ranks, ['program.ts'], ['main.ts']]), [])
    t.same(circleIn(under(folder)), [])
  })
}

t.test('rules do no I/O, read no clock and throw no dice', async (t) => {
  const isRule = (path: string) => path.includes('/src/domain/') || rules.has(path)
  const rules = new Set(
    serviceNames
      .flatMap((service) => [...placesIn(service).values()])
      .filter(({ layer }) => layer === 'rules')
      .map(({ file }) => file.path),
  )
  const domain = under('services/').filter(({ path }) => isRule(path))
  t.ok(domain.length > 10)
  const libraries = ['node:assert', 'node:assert/strict', 'bignumber.js', 'ipaddr.js']
  const pure = ['@backoffice/contracts', '@backoffice/process/addresses', ...libraries]
  t.same(
    violations(domain, (name, file) => isRule(name) || pure.includes(name) || isHash(name, file)),
    [],
  )
  const impure = /Date\.now\(|new Date\(\)|Math\.random\(|process\.env/
  t.same(
    domain.filter((file) => impure.test(file.text)).map((file) => file.path),
    [],
  )
})

/** What has time-outs, and what is tried again after a while. */
const timed = [
  'services/gateway/src/http/',
  'services/players/src/games/game-provider.ts',
  'services/gateway/src/providers/access.ts',
  'services/webhooks/src/sending/',
  'services/webhooks/src/deliveries/upkeep.ts',
  'services/reconciler/src/reconciliation/',
  'services/reconciler/src/background/',
  'services/wallet/src/background/',
]

// What replicas share is judged by PostgreSQL's clock, which a batch's first statement reads. A command is handed it as
// `now`; the process's own clock, which may be wrong, is only for durations.
t.test("no operation and no statement of a service reads the process's clock", async (t) => {
  const decides = (path: string) =>
    serviceNames.some((service) => path.startsWith(`services/${service}/src/`)) && path.split('/').length > 4
  const deciding = under('services/').filter(
    ({ path }) => decides(path) && !timed.some((place) => path.startsWith(place)),
  )
  t.ok(deciding.length > 50)
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

t.test('only the gateway has entities: no other service loads MikroORM, and the migrator for migrations', async (t) => {
  const importing = files.filter(({ path, imports }) => path.includes('/src/') && imports.some(isMikro))
  t.same([...new Set(importing.map(({ path }) => path.split('/src/')[0]))].sort(), [
    'packages/database',
    'services/gateway',
    'services/migrator',
  ])
})
const isMikro = (name: string) => name.startsWith('@mikro-orm/')
