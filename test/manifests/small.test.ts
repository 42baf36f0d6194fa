// proof: types the page of the small size, starts its programs, and builds each size without each of its parts.
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brokerUsers } from '@backoffice/contracts'
import { freePort, natsServerBinary } from '@backoffice/dev-stack'
import { eventually, makeCertificate, skipWithout, temporaryFolder } from '@backoffice/test-kit'
import t, { type Test } from 'tap'
import { Cluster } from './cluster.ts'
import { startManagedDatabase } from './database.ts'
import { documentsIn } from './kustomize.ts'
import { environmentHere, run } from './pod.ts'
import { rendered, skip } from './rendered.ts'
import { environmentWithFiles } from './secrets.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const overlay = 'deploy/k8s/overlays/small'
/** Who makes an operator, and whom a deposit passes. */
const programs = ['gateway', 'players', 'wallet', 'payments', 'webhooks', 'console'] as const

const page = readFileSync(join(root, 'deploy/k8s/small.md'), 'utf8')
const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block)
/** They need a cluster, a registry or a release. */
const notHere = /kubectl (?:apply|-n)|docker build|npm run release/
const typed = blocks.filter((block) => !notHere.test(block))
const quickstart = [...readFileSync(join(root, 'docs/guide.md'), 'utf8').matchAll(/^```bash\n([\s\S]*?)^```/gm)].map(
  ([, block = '']) => block,
)

t.test(
  'the page of the small size leads to a signed deposit',
  { skip: skip || skipWithout('psql', 'psql') },
  async (t) => {
    t.same([blocks.length, typed.length], [6, 4], 'two blocks need what is not here')
    const dir = temporaryFolder(t)
    const clone = cloneIn(dir)
    const certificate = await makeCertificate(dir, 'provider')
    const database = await startManagedDatabase(dir, { ...certificate, user: 'master', password: 'of-the-provider' })
    t.teardown(() => database.stop())
    cpSync(certificate.certFile, join(clone, 'provider-ca.pem'))
    const consolePort = await freePort()
    const words = (text: string) =>
      text
        .replaceAll('postgres@db.provider.example:5432', `master@localhost:${database.port}`)
        .replaceAll('db.provider.example:5432', `localhost:${database.port}`)
        .replaceAll('127.0.0.1:8083', `127.0.0.1:${consolePort}`)
    const shell = async (lines: readonly string[], environment = {}) => {
      const env = { ...process.env, PGPASSWORD: 'of-the-provider', ...environment }
      const { stdout } = await promisify(execFile)('bash', ['-euc', words(lines.join('\n'))], { cwd: clone, env })
      return stdout
    }

    const [operator = '', ...before] = typed.toReversed()
    const printed = await shell(before.toReversed())
    const [, objects] = /# → (\d+)/.exec(page) ?? []
    t.match(printed, new RegExp(`^${objects}$`, 'm'), 'the manifests are whole')

    const [program = '', ...args] = ['kubectl', 'kustomize', join(clone, overlay)]
    const cluster = new Cluster(documentsIn(execFileSync(program, args, { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 })))
    const natsUrl = await startNats(
      t,
      dir,
      cluster.secret(cluster.all('Secret').find(isOfNats)?.metadata.name ?? '') ?? {},
    )
    const surroundings = { postgresPort: database.port, natsUrl, certificate }
    const environmentOf = async (name: string): Promise<Record<string, string>> => {
      const pod = environmentWithFiles(cluster, cluster.container(name), join(dir, 'pods', name))
      const { DATABASE_CA_FILE, CONSOLE_PORT } = pod
      return {
        ...(await environmentHere(pod, surroundings)),
        // The file of the page, and the port that the page forwards.
        ...(DATABASE_CA_FILE === undefined ? {} : { DATABASE_CA_FILE }),
        ...(CONSOLE_PORT === undefined ? {} : { CONSOLE_PORT: String(consolePort) }),
      }
    }
    const migration = run(t, 'packages/migrator/src/main.ts', await environmentOf('migrate'))
    t.equal(await migration.ended, 0, migration.printed())
    run(t, 'packages/migrator/src/keep-stream.ts', await environmentOf('streams'))
    const environments = new Map<string, Readonly<Record<string, string>>>()
    for (const name of programs) {
      const environment = await environmentOf(name)
      environments.set(name, environment)
      const pod = run(t, `services/${name}/src/main.ts`, environment)
      const health = `http://127.0.0.1:${environment.HEALTH_PORT}/readyz`
      await eventually(async () => (await fetch(health)).ok).catch(() => t.fail(pod.printed()))
    }

    const shown = await shell([operator])
    const [KEY = ''] = /bk_test_\w+/.exec(shown) ?? []
    const [SECRET = ''] = /sk_\w+/.exec(shown) ?? []
    t.ok(KEY && SECRET, 'an operator was made by the machine of the page')
    const steps = quickstart.slice(0, 2).map((block) => block.replace(/^(?:BASE_URL|KEY)=.*$/gm, ''))
    const BASE_URL = `http://127.0.0.1:${environments.get('gateway')?.PORT}/api/v1`
    const replies = (await shell(steps, { BASE_URL, KEY, SECRET })).trim().split('\n')
    t.match(page, 'The last reply shows `"available":"150.00"`')
    t.match(replies.at(-1), '"available":"150.00"')
    const connections = await database.connections()
    t.same(
      connections.filter(({ ssl }) => !ssl),
      [],
      'nobody speaks to PostgreSQL in clear',
    )
  },
)

t.test('a part of a size is left out by its line', { skip }, async (t) => {
  for (const size of ['small', 'standard', 'production'] as const) {
    const file = `overlays/${size}/kustomization.yaml`
    const text = readFileSync(join(root, 'deploy/k8s', file), 'utf8')
    const lines = [...text.matchAll(/^ {2}- (?:\.\.\/){2}(?:components\/(?!release$)|monitoring).*\n/gm)].map(
      ([line]) => line,
    )
    t.ok(lines.length >= 7)
    for (const line of lines) t.ok(rendered(size, { [file]: () => text.replace(line, '') }).manifests.length > 60, line)
  }
})

const isOfNats = ({ metadata }: { readonly metadata: { readonly name: string } }) => /^nats-\w+$/.test(metadata.name)

/** As a fresh clone: a deploy folder of its own, and everything else by links. */
function cloneIn(dir: string): string {
  const clone = join(dir, 'clone')
  mkdirSync(clone)
  for (const name of readdirSync(root)) if (name !== 'deploy') symlinkSync(join(root, name), join(clone, name))
  cpSync(join(root, 'deploy'), join(clone, 'deploy'), { recursive: true })
  for (const name of ['.env', 'secrets'])
    rmSync(join(clone, 'deploy/k8s/components/secret-files', name), { recursive: true, force: true })
  return clone
}

/** With deploy/nats/single.conf and the Secret `nats`. */
async function startNats(t: Test, dir: string, secrets: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(dir, 'nats')
  cpSync(join(root, 'deploy/nats'), folder, { recursive: true })
  for (const user of brokerUsers)
    writeFileSync(join(folder, 'passwords', `${user}.conf`), secrets[`${user}.conf`] ?? '')
  const [client, monitoring] = [await freePort(), await freePort()]
  const file = join(folder, 'single.conf')
  const binary = await natsServerBinary()
  let text = readFileSync(file, 'utf8')
    .replace('0.0.0.0:4222', `127.0.0.1:${client}`)
    .replace('0.0.0.0:8222', `127.0.0.1:${monitoring}`)
    .replace('"/data"', JSON.stringify(join(folder, 'data')))
  // Debian's 2.9 does not know it.
  if (execFileSync(binary, ['--version'], { encoding: 'utf8' }).includes('v2.9.'))
    text = text.replace(/^\s*sync_interval: always$/m, '')
  writeFileSync(file, text)
  const child = spawn(binary, ['--config', file], { stdio: 'ignore', env: {} })
  t.teardown(async () => {
    child.kill()
    await once(child, 'close')
  })
  await eventually(async () => (await fetch(`http://127.0.0.1:${monitoring}/healthz`)).ok)
  return `nats://127.0.0.1:${client}`
}
