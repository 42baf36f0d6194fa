import { execFileSync } from 'node:child_process'
import { existsSync, globSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serviceNames } from '@backoffice/contracts'
import dockerignore from '@balena/dockerignore'
import t from 'tap'
import { carriedBy } from '../../deploy/docker/carry.ts'
import { deployFolder, imageFiles, referencesIn, withDigests, withOwnDigests } from '../../deploy/pin-images.ts'

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
  '@backoffice/api-docs': ['gateway'],
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
  undici: ['games', 'players'],
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

const ignored = dockerignore.default().add(readFileSync(join(root, '.dockerignore'), 'utf8'))

const wanted = [
  'package.json',
  'package-lock.json',
  'CHANGELOG.md',
  'deploy/docker/carry.ts',
  'docs/guide.md',
  'packages/contracts/src/index.ts',
  'services/gateway/src/main.ts',
]
/** What lies about on somebody's machine. */
const planted = [
  '.env',
  '.npmrc',
  '.git/config',
  'services/gateway/.env',
  'services/gateway/.env.local',
  'services/gateway/.npmrc',
  'services/gateway/production.env',
  'services/gateway/src/tls.key',
  'services/gateway/src/server.pem',
  'services/gateway/src/login.p12',
  'services/gateway/coverage/index.html',
  'services/gateway/npm-debug.log',
  'packages/contracts/.idea/workspace.xml',
  'packages/contracts/node_modules/x/index.js',
  'packages/contracts/test/operations.test.ts',
  'deploy/docker/.env',
  'deploy/docker/machine-key.json',
  'docs/incidents.md',
]

t.test('of a checkout with secrets in it, images get the sources', async (t) => {
  for (const path of wanted) t.notOk(ignored.ignores(path), path)
  for (const path of planted) t.ok(ignored.ignores(path), path)
})

t.test('what an image takes from the sources is among them', async (t) => {
  const lines = readFileSync(join(root, 'deploy/docker/Dockerfile'), 'utf8').matchAll(
    /^COPY --from=sources (.*) \S+$/gm,
  )
  const copied = [...lines].flatMap(([, paths = '']) => paths.split(' ')).map((path) => path.replace(/^\/app\/?/, ''))
  t.ok(copied.includes('packages/rpc') && copied.includes('services/wallet/package.json'))
  for (const path of copied.filter(Boolean)) t.ok(existsSync(join(root, path)) && !ignored.ignores(path), path)
})

t.test('what an image starts is in the sources, and reaches it', async (t) => {
  const lines = readFileSync(join(root, 'deploy/docker/Dockerfile'), 'utf8').matchAll(/^ENTRYPOINT (.*)$/gm)
  const started = [...lines].flatMap(([, command = '']) => JSON.parse(command) as string[])
  const files = new Set(started.filter((word) => word.endsWith('.ts')).map((path) => path.replace(/^\.\//, '')))
  t.ok(files.has('packages/process/src/telemetry/register.ts') && files.size > 10)
  for (const path of files) t.ok(existsSync(join(root, path)) && !ignored.ignores(path), path)
})

t.test('no image takes anything but from the stage of sources, which are readable for all', async (t) => {
  const [, ...stages] = readFileSync(join(root, 'deploy/docker/Dockerfile'), 'utf8').split(/^FROM \S+ AS /m)
  for (const stage of stages) {
    const name = stage.slice(0, stage.indexOf('\n'))
    for (const [line] of stage.matchAll(/^(?:COPY|ADD) .*$/gm))
      t.equal(line.startsWith('COPY --from='), name !== 'sources', `${name}: ${line}`)
  }
  t.match(stages[0], /^sources\nWORKDIR \/app\nCOPY \. \.\/\nRUN chmod -R a\+rX,go-w \.\n/)
})

const texts = imageFiles().map((file) => readFileSync(file, 'utf8'))
const references = texts.flatMap(referencesIn)

t.test(
  'every image of somebody else is found: those of PostgreSQL, NATS with its two helpers, Node and the collector',
  async (t) => {
    const names = new Set(references.map(({ image }) => image.slice(0, image.indexOf(':'))))
    t.same([...names].sort(), [
      'nats',
      'natsio/nats-server-config-reloader',
      'natsio/prometheus-nats-exporter',
      'node',
      'otel/opentelemetry-collector-contrib',
      'postgres',
    ])
    // Whatever else is called an image is our own.
    const others = texts.flatMap((text) =>
      [...text.matchAll(/\bimage: *["']?([^\s"']+)/g)].map(([, image = '']) => image),
    )
    const ours = others.filter((image) => /^backoffice\//.test(image))
    const manifests = others.filter((image) => !/^(backoffice\/|\$\{)/.test(image))
    t.equal(others.length - ours.length - manifests.length, 3, 'of the compose file: PostgreSQL, NATS and its volume')
    for (const image of manifests)
      t.ok(
        references.some((each) => image.startsWith(each.image)),
        image,
      )
  },
)

t.test('one image is the same bytes everywhere: one tag, and one digest or none', async (t) => {
  const meant = new Map<string, Set<string>>()
  for (const { image, digest } of references) {
    const name = image.slice(0, image.indexOf(':'))
    meant.set(name, (meant.get(name) ?? new Set()).add(`${image} ${digest}`))
  }
  for (const [name, variants] of meant) t.equal(variants.size, 1, `${name}: ${[...variants].join(', ')}`)
})

t.test('pinning writes the digest behind the tag, replaces a former one, and changes nothing else', async (t) => {
  const [old, young] = ['a', 'b'].map((letter) => `sha256:${letter.repeat(64)}`)
  const digests = (digest = '') => new Map(references.map(({ image }) => [image, digest]))
  for (const text of texts) {
    const pinned = withDigests(text, digests(old))
    t.ok(referencesIn(pinned).every(({ digest }) => digest === old))
    t.equal(withDigests(pinned, digests(young)), withDigests(text, digests(young)))
    t.equal(pinned.replaceAll(`@${old}`, ''), text.replaceAll(/@sha256:[0-9a-f]{64}/g, ''))
  }
})

t.test(
  'each of our own images gets its digest beside its tag in the overlay, and a new one the next time',
  async (t) => {
    const overlay = readFileSync(`${deployFolder}k8s/components/release/kustomization.yaml`, 'utf8')
    const plain = overlay.replaceAll(/, digest: "[^"]*"/g, '')
    const asked: string[] = []
    const [old, young] = ['a', 'b'].map((letter) => `sha256:${letter.repeat(64)}`)
    const pinned = withOwnDigests(overlay, (image) => {
      asked.push(image)
      return old ?? ''
    })
    t.equal(new Set(asked).size, 9)
    for (const image of asked) t.match(image, /^registry\.example\/backoffice\/\w+:\d+\.\d+\.\d+$/)
    t.equal([...pinned.matchAll(/newTag: [\w.]+, digest: "sha256:a{64}" \}/g)].length, 9)
    t.equal(
      withOwnDigests(pinned, () => young ?? ''),
      pinned.replaceAll(old ?? '', young ?? ''),
    )
    t.equal(pinned.replaceAll(/, digest: "[^"]*"/g, ''), plain, 'and nothing else')
  },
)
