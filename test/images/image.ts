import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { linkSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { BuildContext } from './context.ts'
import type { Stage } from './dockerfile.ts'

/** Folders with what the images' /app holds, made by the Dockerfile's own lines. */
export class Images {
  readonly #stages: ReadonlyMap<string, Stage>
  readonly #context: BuildContext
  readonly #folder: string
  readonly #built = new Set<string>()

  constructor(stages: ReadonlyMap<string, Stage>, { context, folder }: { context: BuildContext; folder: string }) {
    this.#stages = stages
    this.#context = context
    this.#folder = folder
  }

  stage(name: string): Stage {
    const stage = this.#stages.get(name)
    if (stage === undefined) throw new Error(`the Dockerfile has no target ${name}`)
    return stage
  }

  /** @returns the folder that stands for /app */
  build(name: string): string {
    const stage = this.stage(name)
    const app = join(this.#folder, name)
    if (this.#built.has(name)) return app
    if (this.#stages.has(stage.base)) link(this.build(stage.base), app)
    else mkdirSync(app)
    for (const step of stage.steps) {
      if (step.kind === 'run') execFileSync('sh', ['-c', step.command], { cwd: app, env: installEnvironment() })
      else if (step.from !== undefined)
        for (const source of step.sources)
          linkInto(join(this.build(step.from), source.replace(/^\/app\/?/, '')), join(app, step.target))
      else for (const source of step.sources) this.#context.copy(source, join(app, step.target))
    }
    this.#built.add(name)
    return app
  }
}

/** Files are shared: a folder of packages is made once and is in every image. */
function link(from: string, into: string): void {
  execFileSync('cp', ['-alf', `${from}/.`, into])
}

/** As COPY does: a folder's contents, or a file; into a target that ends with a slash under its own name. */
function linkInto(from: string, into: string): void {
  if (statSync(from).isDirectory()) {
    mkdirSync(into, { recursive: true })
    link(from, into)
    return
  }
  const file = into.endsWith('/') ? join(into, basename(from)) : into
  mkdirSync(dirname(file), { recursive: true })
  // The packages of the dependencies' stage have theirs already.
  rmSync(file, { force: true })
  linkSync(from, file)
}

/** The machine's own registry and cache; nothing of the npm that runs the tests. */
function installEnvironment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle|config_local)/i.test(name))
  return { ...Object.fromEntries(inherited), npm_config_prefer_offline: 'true' }
}

// The whole file system is read-only and the user is the image's; only `writable` stays what it is. `exec` throughout:
// signals reach the program itself, as they reach process 1 of a container.
const confine = `
set -e
[ -z "$WRITABLE" ] || mount --bind "$WRITABLE" "$WRITABLE"
for point in / $(stat -c %m "$APP"); do mount -o remount,bind,ro "$point"; done
cd "$APP"
if touch written 2>/dev/null; then echo "the file system is not read-only" >&2; exit 99; fi
exec setpriv --reuid "\${USER_ID%%:*}" --regid "\${USER_ID##*:}" --clear-groups --no-new-privs --bounding-set=-all -- "$@"
`

/** Whether this machine lets us mount: root, outside a container that forbids it. */
export function canConfine(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'sh', '-c', 'mount -o remount,bind,ro / && setpriv --version'], {
      stdio: 'ignore',
    })
    return true
  } catch {
    return false
  }
}

export interface StartOptions {
  readonly environment: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  /** Another one of the image than its entrypoint starts. */
  readonly program?: string
  /** A folder that stands for a mounted volume. */
  readonly volume?: string
  /** As the image's user on a read-only file system. */
  readonly confined: boolean
  /** The Node that the base image has. */
  readonly node: string
}

export class Container {
  readonly #child: ChildProcess
  readonly ended: Promise<number | null>
  #printed = ''
  #output = ''

  constructor(stage: Stage, app: string, { environment, args = [], program, volume, confined, node }: StartOptions) {
    const [runtime, ...given] = stage.entrypoint ?? []
    if (runtime !== 'node') throw new Error(`${stage.name} starts ${runtime}`)
    const rest = program === undefined ? given : [program]
    // tap would have every program report to it.
    const command = ['env', '-u', 'NODE_OPTIONS', node, ...rest, ...args]
    const [file = '', ...argv] = confined ? ['unshare', '--mount', 'sh', '-c', confine, 'sh', ...command] : command
    const outside = confined
      ? { APP: app, USER_ID: stage.user ?? '', WRITABLE: volume ?? '', PATH: process.env.PATH }
      : { PATH: process.env.PATH }
    const env = { ...outside, ...stage.environment, ...environment }
    this.#child = spawn(file, argv, { cwd: app, env, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child.stdout?.on('data', (chunk) => {
      this.#output += chunk
      this.#printed += chunk
    })
    this.#child.stderr?.on('data', (chunk) => {
      this.#printed += chunk
    })
    this.ended = once(this.#child, 'close').then(([code]) => code)
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Standard output and errors so far. */
  printed(): string {
    return this.#printed
  }

  output(): string {
    return this.#output
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.#child.kill(signal)
    return this.ended
  }
}
