import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { BuildContext } from './context.ts'
import { readDockerfile } from './dockerfile.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'backoffice-context-'))
t.teardown(() => rmSync(dir, { recursive: true, force: true }))

const wanted = [
  'package.json',
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
  'services/gateway/coverage/index.html',
  'services/gateway/npm-debug.log',
  'packages/contracts/.idea/workspace.xml',
  'packages/contracts/node_modules/x/index.js',
  'deploy/docker/.env',
  'docs/incidents.md',
]

function write(folder: string, paths: readonly string[]): void {
  for (const path of paths) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, '')
  }
}

t.test('of a checkout with secrets in it, readable for its owner alone, images get the sources, for all', async (t) => {
  const checkout = join(dir, 'checkout')
  mkdirSync(checkout)
  cpSync(join(root, '.dockerignore'), join(checkout, '.dockerignore'))
  write(checkout, [...wanted, ...planted])
  // As under umask 077.
  execFileSync('chmod', ['-R', 'go-rwx', checkout])
  const sources = join(dir, 'app')
  mkdirSync(sources)
  chmodSync(sources, 0o755)
  const stage = readDockerfile(join(root, 'deploy/docker/Dockerfile')).get('sources')
  const context = new BuildContext(checkout)
  for (const step of stage?.steps ?? []) {
    if (step.kind === 'run') execFileSync('sh', ['-c', step.command], { cwd: sources })
    else for (const source of step.sources) context.copy(source, join(sources, step.target))
  }
  const there = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  t.same(there.filter((path) => statSync(join(sources, path)).isFile()).sort(), [...wanted].sort())
  for (const path of there) {
    const { mode } = statSync(join(sources, path))
    t.equal(mode & 0o044, 0o044, `${path} can be read`)
    t.equal(mode & 0o022, 0, `${path} cannot be written`)
  }
})

t.test('no image takes anything but from that stage', async (t) => {
  for (const [name, { steps }] of readDockerfile(join(root, 'deploy/docker/Dockerfile')))
    for (const step of steps) if (step.kind === 'copy') t.equal(step.from === undefined, name === 'sources', name)
})
