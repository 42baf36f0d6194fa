import { execFile } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { root } from './source-files.ts'

export interface Outcome {
  readonly ok: boolean
  readonly output: string
}

/** Folders that git leaves out: what is installed, built or measured. */
const ignored = new Set(['.git', ...readFileSync(join(root, '.gitignore'), 'utf8').split(/\/?\n/)])

/** Paths of all files below a folder that git would take in, from that folder on. */
function filesBelow(folder: string, path = ''): readonly string[] {
  return readdirSync(join(folder, path), { withFileTypes: true }).flatMap((entry) => {
    const found = path === '' ? entry.name : `${path}/${entry.name}`
    if (ignored.has(entry.name) || ignored.has(found)) return []
    if (entry.isDirectory()) return filesBelow(folder, found)
    return entry.isFile() ? [found] : []
  })
}

/**
 * Gives a folder what is installed in this checkout, but for our own packages: those are the folder's.
 * @param workspaces their paths from the folder on
 */
export function linkDependencies(folder: string, workspaces: readonly string[]): void {
  const own = '@backoffice'
  const installed = join(root, 'node_modules')
  const linked = join(folder, 'node_modules')
  mkdirSync(join(linked, own), { recursive: true })
  for (const name of readdirSync(installed)) if (name !== own) symlinkSync(join(installed, name), join(linked, name))
  for (const path of workspaces) {
    const workspace = join(folder, path)
    const { name } = JSON.parse(readFileSync(join(workspace, 'package.json'), 'utf8')) as { name: string }
    symlinkSync(workspace, join(linked, name))
    // Versions that npm could not put at the top.
    const nested = join(root, path, 'node_modules')
    if (existsSync(nested)) symlinkSync(nested, join(workspace, 'node_modules'))
  }
}

/** Of what git leaves out, what the types need: packages/client/scripts/make-types.ts writes it. */
const madeTypes = ['api', 'names', 'methods'].map((name) => `packages/client/src/${name}.ts`)

/** The repository in a folder of its own: its files to change at will, and the installed dependencies of this checkout. */
export class WorkingCopy {
  readonly folder = mkdtempSync(join(tmpdir(), 'backoffice-copy-'))
  /** The files as they were when the copy was made. */
  readonly #original = new Map<string, string>()

  constructor() {
    for (const path of filesBelow(root)) {
      const target = join(this.folder, path)
      mkdirSync(dirname(target), { recursive: true })
      copyFileSync(join(root, path), target)
      this.#original.set(path, readFileSync(target, 'utf8'))
    }
    for (const path of madeTypes) copyFileSync(join(root, path), join(this.folder, path))
    const workspace = /^((?:packages|services|local)\/[\w-]+|test)\/package\.json$/
    linkDependencies(
      this.folder,
      [...this.#original.keys()].flatMap((path) => workspace.exec(path)?.[1] ?? []),
    )
  }

  /** The text of a file in the repository; undefined where there is none. */
  original(path: string): string | undefined {
    return this.#original.get(path)
  }

  /** Changes one file. */
  write(path: string, text: string): void {
    const target = join(this.folder, path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, text)
  }

  /** Runs a program in a folder of the copy. */
  run(
    command: string,
    args: readonly string[],
    { folder = '.', env = {} }: { readonly folder?: string; readonly env?: NodeJS.ProcessEnv } = {},
  ): Promise<Outcome> {
    const options = {
      cwd: join(this.folder, folder),
      env: { ...environment(this.folder), ...env },
      maxBuffer: 64 * 1024 * 1024,
    }
    return new Promise((resolve) => {
      execFile('sh', ['-c', withoutTap, command, ...args], options, (error, stdout, stderr) =>
        resolve({ ok: error === null, output: `${stdout}${stderr}` }),
      )
    })
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** tap gives each process that a test starts a module to load first, which the compiler cannot live with. */
const withoutTap = 'unset NODE_OPTIONS; exec "$0" "$@"'

/** That of this process, without what tap tells its own test files. */
function environment(folder: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(_?TAP|npm_)/.test(name))
  const path = `${join(folder, 'node_modules/.bin')}${delimiter}${process.env.PATH}`
  return { ...Object.fromEntries(kept), PATH: path, NO_COLOR: '1', TAP_TIMEOUT: '240' }
}
