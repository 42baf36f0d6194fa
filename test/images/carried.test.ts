import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serviceNames } from '@backoffice/contracts'
import t from 'tap'

const root = fileURLToPath(new URL('../../', import.meta.url))
// Packages are linked, so the folder is on the disk of the checkout.
mkdirSync(join(root, '.cache'), { recursive: true })
const folder = mkdtempSync(join(root, '.cache/carried-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

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
for (const [target, files] of entries)
  execFileSync(process.execPath, ['deploy/docker/carry.ts', join(relative(root, folder), target), ...files], {
    cwd: root,
  })

/** The packages that an image is given, by name and by folder: a service may have one of its own beside its sources. */
function packagesOf(target: string): ReadonlyMap<string, string> {
  const found = globSync('{.,packages/*,services/*}/node_modules/{[!@]*,@*/*}', { cwd: join(folder, target) })
  return new Map(found.map((path) => [path.replace(/^.*node_modules\//, ''), join(folder, target, path)]))
}

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
  undici: ['players', 'webhooks'],
}

/** Of the stack of a developer's machine, which is installed here and in no image. */
const onlyHere = new Set(['team pg'])

t.test('an image has the packages that its program loads, and none that only others load', async (t) => {
  t.same([...entries.keys()].sort(), [...programs, 'migrate', 'team'].sort())
  for (const [name, needed] of Object.entries(neededBy)) {
    const carrying = [...entries.keys()].filter(
      (target) => packagesOf(target).has(name) && !onlyHere.has(`${target} ${name}`),
    )
    t.same(carrying.sort(), [...needed].sort(), name)
  }
})

t.test('what it is given leads to something', async (t) => {
  for (const target of entries.keys())
    for (const [name, path] of packagesOf(target)) {
      // Our own packages are links to sources, which the image has from another stage.
      if (!name.startsWith('@backoffice/')) t.ok(existsSync(path), `${target}: ${name}`)
    }
})
