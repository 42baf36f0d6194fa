import { execFileSync } from 'node:child_process'
import { existsSync, globSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serviceNames } from '@backoffice/contracts'
import t from 'tap'
import { carriedBy } from '../../deploy/docker/carry.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** What the Dockerfile gives each image: the loop over services, and a line for each of the others. */
function entriesByTarget(): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync(join(root, 'deploy/docker/Dockerfile'), 'utf8').replaceAll('\\\n', ' ')
  const [, names = '', , loop = ''] =
    /for service in ([\w ]+); do\s+node (\S+) carried\/\$service\s+([^|]+)\|\|/.exec(text) ?? []
  const inLoop = names
    .trim()
    .split(' ')
    .map((name) => [name, loop.replaceAll('$service', name)] as const)
  const others = [...text.matchAll(/node \S+ carried\/(\w+)\s+([^&\n]+)/g)].map(
    ([, name = '', entries = '']) => [name, entries] as const,
  )
  return new Map([...inLoop, ...others].map(([name, entries]) => [name, entries.trim().split(/\s+/)]))
}

const entries = entriesByTarget()
const programs = [...serviceNames, 'games', 'console']
const nameOf = (path: string) => path.replace(/^.*node_modules\//, '')
/** The packages that each image is given. */
const packagesOf = new Map(
  [...entries].map(([target, files]) => {
    const { links, packages } = carriedBy(files)
    return [target, new Set([...links, ...packages].map(nameOf))] as const
  }),
)

/** What only some of them need, and who. */
const neededBy: Readonly<Record<string, readonly string[]>> = {
  '@aws-sdk/client-s3': ['reconciler'],
  '@backoffice/documents': ['gateway'],
  '@fastify/rate-limit': ['games', 'console'],
  '@nats-io/transport-node': [...serviceNames, 'console', 'migrate'],
  '@opentelemetry/sdk-node': programs,
  cockatiel: ['players'],
  commander: ['team'],
  eta: ['console'],
  fastify: ['gateway', 'games', 'console'],
  'htmx.org': ['console'],
  marked: ['gateway'],
  'openid-client': ['console', 'team'],
  pg: [...serviceNames, 'games', 'migrate'],
  undici: ['players'],
}

/** Of the stack of a developer's machine, which is installed here and in no image. */
const onlyHere = new Set(['team pg'])

t.test('an image has the packages that its program loads, and none that only others load', async (t) => {
  t.same([...entries.keys()].sort(), [...programs, 'migrate', 'team'].sort())
  for (const [name, needed] of Object.entries(neededBy)) {
    const carrying = [...entries.keys()].filter(
      (target) => packagesOf.get(target)?.has(name) && !onlyHere.has(`${target} ${name}`),
    )
    t.same(carrying.sort(), [...needed].sort(), name)
  }
})

t.test('what it is given is there: our packages as links, those of others with their files', async (t) => {
  // Packages are linked, so the folder is on the disk of the checkout.
  mkdirSync(join(root, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(root, '.cache/carried-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const [target, files] = ['team', entries.get('team') ?? []]
  execFileSync(process.execPath, ['deploy/docker/carry.ts', relative(root, folder), ...files], { cwd: root })
  const found = globSync('{.,packages/*,services/*}/node_modules/{[!@]*,@*/*}', { cwd: folder })
  t.same(new Set(found.map(nameOf)), packagesOf.get(target))
  for (const path of found) {
    // Our own packages are links to sources, which the image has from another stage.
    if (nameOf(path).startsWith('@backoffice/')) t.ok(lstatSync(join(folder, path)).isSymbolicLink(), path)
    else t.ok(existsSync(join(folder, path, 'package.json')), path)
  }
})
