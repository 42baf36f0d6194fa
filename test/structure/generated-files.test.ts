import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { allOperations } from '@backoffice/contracts'
import t from 'tap'
import { carriedBy } from '../../deploy/docker/carry.ts'
import { generated } from '../../deploy/generate.ts'
import { root } from './source-files.ts'

const workspaces = globSync(['{packages,services,local}/*/package.json', 'test/package.json'], { cwd: root })

t.test('generated files are what they follow from (npm run generate)', async (t) => {
  for (const [path, render] of Object.entries(generated))
    t.equal(readFileSync(join(root, path), 'utf8'), render(), path)
})

t.test('every internal operation names the services that may call it', async (t) => {
  const nameless = allOperations
    // No other service has anything to ask of the reconciler.
    .filter(
      ({ audience, callers = [], service }) =>
        audience === 'internal' && callers.length === 0 && service !== 'reconciler',
    )
    .map((operation) => operation.id)
  t.same(nameless, [])
})

t.test('package-lock.json names no registry host', async (t) => {
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8')
  t.same(lock.match(/"resolved": "https?:[^"]*"/g) ?? [], [])
})

t.test('every dependency that we name has one exact version', async (t) => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dependencies?: Record<string, string>; devDependencies?: Record<string, string> }>
  }
  const ranges = Object.entries(lock.packages)
    .filter(([path]) => path !== '' && !path.includes('node_modules'))
    .flatMap(([path, { dependencies, devDependencies }]) =>
      Object.entries({ ...dependencies, ...devDependencies })
        .filter(([, version]) => !/^\d+\.\d+\.\d+/.test(version))
        .map(([name, version]) => `${path}: ${name} ${version}`),
    )
  t.same(ranges, [])
})

t.test(
  'what npm start, npm run listen and the examples load is installed without the tools of developers',
  async (t) => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dev?: boolean }>
    }
    const stack = ['packages/process/src/telemetry/register', 'local/stack/src/main', 'local/stack/src/identity/main']
    const programs = [...stack, 'packages/client/scripts/listen'].map((path) => `${path}.ts`)
    const loaded = carriedBy([
      ...programs,
      ...globSync(['services/*/src/main.ts', 'examples/*.ts'], { cwd: root }),
    ]).packages
    const paths = [...loaded].map((path) => relative(root, path))
    t.ok(paths.includes('node_modules/oidc-provider') && paths.includes('node_modules/fastify'))
    t.same(
      paths.filter((path) => packages[path]?.dev),
      [],
    )
  },
)

t.test('every workspace runs tap with the same plugins', async (t) => {
  // All share one assembled copy of tap; one with other plugins would assemble it anew under the feet of the rest.
  const without = workspaces.filter((path) => {
    const { tap } = JSON.parse(readFileSync(join(root, path), 'utf8')) as {
      readonly tap?: string | { extends: string }
    }
    const shared = typeof tap === 'object' ? tap.extends : tap
    return shared === undefined || join(root, dirname(path), shared) !== join(root, '.taprc')
  })
  t.same(without, [])
})

t.test('each dependency has its reason once, in the `why` of a package.json that has it', async (t) => {
  interface Declared {
    readonly why?: Readonly<Record<string, string>>
    readonly dependencies?: Readonly<Record<string, string>>
    readonly devDependencies?: Readonly<Record<string, string>>
  }
  const declared = ['package.json', ...workspaces].map((path) => {
    const { why = {}, dependencies, devDependencies } = JSON.parse(readFileSync(join(root, path), 'utf8')) as Declared
    return { path, why, used: Object.keys({ ...dependencies, ...devDependencies }) }
  })
  for (const { path, why, used } of declared) {
    const foreign = Object.keys(why).filter((name) => !used.includes(name))
    t.same(foreign, [], `${path} gives reasons for what it has`)
    for (const [name, reason] of Object.entries(why)) t.match(reason, /^[^\n]{4,100}$/, `${path}: ${name}`)
  }
  const used = new Set(declared.flatMap(({ used }) => used).filter((name) => !name.startsWith('@backoffice/')))
  t.same(declared.flatMap(({ why }) => Object.keys(why)).sort(), [...used].sort())
})
