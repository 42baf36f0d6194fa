import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import dockerignore from '@balena/dockerignore'
import t from 'tap'

const root = fileURLToPath(new URL('../../', import.meta.url))
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
