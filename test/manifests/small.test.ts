// proof: types the page of the small size, and starts its programs with the environment of their pods.

import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brokerUsers, streamBytesMin } from '@backoffice/contracts'
import { freePort, natsServerBinary, startPostgres } from '@backoffice/local-stack'
import {
  type CertificateFiles,
  eventually,
  makeCertificate,
  skipWithout,
  startProcess,
  temporaryFolder,
} from '@backoffice/test-kit'
import pg from 'pg'
import t, { type Test } from 'tap'
import { Cluster, environmentWithFiles, skip } from './cluster.ts'
import { documentsIn } from './kustomize.ts'

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
    const database = await startDatabase(t, dir, { ...certificate, user: 'master', password: 'of-the-provider' })
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
    const environmentOf = async (name: string): Promise<Record<string, string>> => {
      const pod = environmentWithFiles(cluster, cluster.container(name), join(dir, 'pods', name))
      const { DATABASE_CA_FILE, CONSOLE_PORT } = pod
      return {
        ...(await environmentHere(pod, natsUrl)),
        // The file of the page, and the port that the page forwards.
        ...(DATABASE_CA_FILE === undefined ? {} : { DATABASE_CA_FILE }),
        ...(CONSOLE_PORT === undefined ? {} : { CONSOLE_PORT: String(consolePort) }),
      }
    }
    const migration = run(t, 'services/migrator/src/main.ts', await environmentOf('migrate'))
    t.equal(await migration.ended, 0, migration.printed())
    run(t, 'services/migrator/src/keep-stream.ts', await environmentOf('streams'))
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
    const { clear, tls } = await database.sessions()
    t.ok(clear === 0 && tls > 0, 'nobody speaks to PostgreSQL in clear')
  },
)

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

/** PostgreSQL as somebody else runs it: over TLS, and nothing is there but a user who may make roles and databases. */
async function startDatabase(
  t: Test,
  dir: string,
  { certFile, keyFile, user, password }: CertificateFiles & { readonly user: string; readonly password: string },
) {
  const folder = join(dir, 'postgres')
  mkdirSync(folder)
  chmodSync(dir, 0o755)
  chmodSync(folder, 0o755)
  // Production's programs refuse one that waits for no disk.
  const server = await startPostgres({ dir: folder, password: 'administrator' })
  const { uid, gid } = statSync(join(folder, 'data'))
  // PostgreSQL wants the key to be its own.
  chownSync(keyFile, uid, gid)
  const administrator = new pg.Client({ connectionString: server.url })
  await administrator.connect()
  t.teardown(async () => {
    await administrator.end()
    await server.child.stop()
  })
  const settings = { ssl_cert_file: certFile, ssl_key_file: keyFile, ssl: 'on' }
  for (const [name, value] of Object.entries(settings))
    await administrator.query(`alter system set ${name} = '${value}'`)
  await administrator.query('select pg_reload_conf()')
  await eventually(async () => (await administrator.query('show ssl')).rows[0].ssl === 'on')
  await administrator.query(`create role ${user} login createrole createdb password '${password}'`)
  return {
    port: Number(new URL(server.url).port),
    /** How many sessions of our roles are in clear, and over TLS. */
    sessions: async () =>
      (
        await administrator.query(`
          select count(*) filter (where not ssl)::int as clear, count(*) filter (where ssl)::int as tls
          from pg_stat_activity join pg_stat_ssl using (pid) where usename like 'backoffice\\_%'`)
      ).rows[0] as { readonly clear: number; readonly tls: number },
  }
}

const portNames = new Set(['PORT', 'HEALTH_PORT', 'GAMES_PORT', 'CONSOLE_PORT', 'OTEL_EXPORTER_PROMETHEUS_PORT'])

/** The environment of a pod, with ports of this machine and otherwise as it is. */
async function environmentHere(
  environment: Readonly<Record<string, string>>,
  natsUrl: string,
): Promise<Record<string, string>> {
  const { NATS_MONITORING_URL: _hasAPortOfItsOwnHere, ...others } = environment
  const here: Record<string, string> = { ...others }
  for (const name of Object.keys(here)) if (portNames.has(name)) here[name] = String(await freePort())
  if ('NATS_URL' in here) here.NATS_URL = natsUrl
  // There is no bucket: the reconciler works without.
  if ('HEADS_BUCKET_ENDPOINT' in here) here.HEADS_BUCKET_ENDPOINT = `http://127.0.0.1:${await freePort()}`
  if ('EVENTS_MAX_BYTES' in here) here.EVENTS_MAX_BYTES = String(streamBytesMin)
  return here
}

const register = './packages/process/src/telemetry/register.ts'

/** Runs a program as its container does: with that environment and nothing else, but for what Node has compiled. */
function run(t: Test, program: string, environment: Readonly<Record<string, string>>) {
  const { NODE_COMPILE_CACHE } = process.env
  const env = { NODE_COMPILE_CACHE, ...environment }
  return startProcess(t, [process.execPath, '--import', register, program], { cwd: root, env })
}
