// `npm start` and `npm test` run this first, with whatever Node the machine has and before anything is installed:
// plain JavaScript, and nothing but Node's own modules. With --omit=dev it installs what runs, and otherwise the tools of
// tests and developers too, on top of it if need be.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const nodeMajor = 24
const root = fileURLToPath(new URL('../../../', import.meta.url))
const lockFile = join(root, 'package-lock.json')
const modules = join(root, 'node_modules')
// npm empties node_modules before a clean install, and the mark with it.
const mark = join(modules, '.installed')
const node = join(modules, '.bin/node')
const tap = join(modules, '.bin/tap')
/** What is there already stays: a start takes no tools away. */
const withTools = !process.argv.includes('--omit=dev') || existsSync(tap)

function fail(message) {
  process.stderr.write(`\n${message}\n`)
  process.exit(1)
}

const lockHash = createHash('sha256').update(readFileSync(lockFile)).digest('hex')

function install() {
  const started = Date.now()
  process.stdout.write('Installing packages …\n')
  // The npm that runs us, or the one on PATH when somebody starts this file by hand.
  const npm = process.env.npm_execpath
  const [command, args] = npm ? [process.env.npm_node_execpath ?? process.execPath, [npm]] : ['npm', []]
  const task = existsSync(modules) ? 'install' : 'ci'
  const options = [
    withTools ? '--include=dev' : '--omit=dev',
    '--no-save',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]
  const result = spawnSync(command, [...args, task, ...options], { cwd: root, stdio: 'inherit' })
  if (result.status !== 0) {
    fail(`npm ${task} failed (above). Check the network and the npm registry setting, then run the same command again.`)
  }
  process.stdout.write(`Packages installed in ${((Date.now() - started) / 1000).toFixed(1)} s\n`)
}

function requireNode() {
  // npm puts the copy in node_modules first into the PATH, so it is this process mostly.
  if (process.execPath.startsWith(modules) && process.version.startsWith(`v${nodeMajor}.`)) return
  const version = existsSync(node) ? execFileSync(node, ['--version'], { encoding: 'utf8' }).trim() : 'none'
  if (version.startsWith(`v${nodeMajor}.`)) return
  fail(
    `Node ${nodeMajor} is needed, and the copy in node_modules is ${version}. Its install script did not run: ` +
      'npm must not be set to ignore-scripts (npm config get ignore-scripts), and node is allowed in package.json. ' +
      'Remove node_modules and try again.',
  )
}

const installing = join(root, '.cache/installing.pid')

/** Two first starts at once would fill one folder together: the second waits until the first has ended. */
function takeTurn() {
  mkdirSync(join(root, '.cache'), { recursive: true })
  for (let told = false; ; ) {
    try {
      writeFileSync(installing, String(process.pid), { flag: 'wx' })
      process.once('exit', () => rmSync(installing, { force: true }))
      return
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    const other = existsSync(installing) ? Number(readFileSync(installing, 'utf8')) : 0
    if (other !== 0 && !isRunning(other)) rmSync(installing, { force: true })
    else if (!told && other !== 0) {
      told = true
      process.stdout.write(`Packages are being installed by process ${other}; waiting for it …\n`)
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

const installed = withTools ? `${lockHash} with tools` : lockHash
const isInstalled = () => existsSync(mark) && readFileSync(mark, 'utf8') === installed
if (!isInstalled()) takeTurn()
if (!isInstalled()) {
  install()
  requireNode()
  // tap assembles its plugins once per installation.
  if (withTools && spawnSync(node, [tap, 'build'], { cwd: root, stdio: 'inherit' }).status !== 0)
    fail('tap build failed (above).')
  writeFileSync(mark, installed)
}
requireNode()
