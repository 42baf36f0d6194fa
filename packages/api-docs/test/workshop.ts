import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Teardown } from '@backoffice/test-kit'
import { testVectors } from '../src/index.ts'

/** Kept, so that only the first run compiles what the programs import. Go removes by itself what is old. */
const goCache = fileURLToPath(new URL('../../../.cache/go/', import.meta.url))

/** Variables of a program, besides those that make it run as in a reader's terminal. */
type Environment = Readonly<Record<string, string>>

export const programEnvironment = (env: Environment = {}): NodeJS.ProcessEnv => ({
  ...process.env,
  GOCACHE: goCache,
  GO111MODULE: 'off',
  // Without a locale some runtimes take arguments and print as ASCII.
  LC_ALL: 'C.UTF-8',
  ...env,
})

/** A folder where programs are compiled and run. */
export class Workshop {
  readonly folder = mkdtempSync(join(tmpdir(), 'snippets-'))
  readonly #built = new Set<string>()

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** @returns what it printed. @throws when it fails */
  run(command: string, args: readonly string[], env: Environment = {}): string {
    return execFileSync(command, args, {
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'pipe'],
      cwd: this.folder,
      env: programEnvironment(env),
    })
  }

  /** The same while this process goes on, for a program that waits for something in it. */
  async runBeside(command: string, args: readonly string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(command, args, { cwd: this.folder, env: programEnvironment() })
    return stdout
  }

  /** Runs what may fail. */
  attempt([command, ...args]: Command, env: Environment = {}) {
    const { status, stdout, stderr } = spawnSync(command, args, {
      encoding: 'utf8',
      cwd: this.folder,
      env: programEnvironment(env),
    })
    return { status, stdout, stderr }
  }

  /** A file or folder in here that `build` makes when it is first asked for. */
  once(name: string, build: (path: string) => void): string {
    const path = join(this.folder, name)
    if (!this.#built.has(name)) build(path)
    this.#built.add(name)
    return path
  }

  /** Copies a file into this folder. */
  copy(from: string): string {
    const to = join(this.folder, basename(from))
    copyFileSync(from, to)
    return to
  }

  write(name: string, text: string): string {
    const file = join(this.folder, name)
    writeFileSync(file, text)
    return file
  }
}

/** It is removed with `t`. */
export function newWorkshop(t: Teardown): Workshop {
  const shop = new Workshop()
  t.teardown(() => shop.remove())
  return shop
}

export type Command = readonly [program: string, ...args: string[]]

/** The vectors as files: for drivers with a JSON parser, for those without, and for Bash. */
export function writeVectors(shop: Workshop) {
  const { requests, webhooks: timeless, webhookAges } = testVectors()
  const inTime = { toleranceSeconds: 300, accepted: true }
  const webhooks = [...timeless.map((v) => ({ ...v, ...inTime, receivedAt: Number(v.timestamp) })), ...webhookAges]
  const rows = [
    ...requests.map((v) => ['request', v.name, v.secret, v.method, v.path, v.timestamp, v.body, v.signature]),
    ...webhooks.map((v) => [
      ...['webhook', v.name, v.secret, v.timestamp, String(v.toleranceSeconds), String(v.receivedAt)],
      ...[String(v.accepted), v.body, v.signature],
    ]),
  ]
  const write = (file: string, encode: (value: string) => string) =>
    shop.write(file, rows.map(([kind, ...values]) => `${[kind, ...values.map(encode)].join(' ')}\n`).join(''))
  return {
    count: requests.length + webhooks.length,
    json: shop.write('vectors.json', JSON.stringify({ requests, webhooks })),
    lines: write('vectors.txt', (value) => Buffer.from(`x${value}`).toString('base64')),
    // Bash reads this by itself. It would start a program for each value in base64, which takes ten times as long.
    escaped: write('vectors-escaped.txt', (value) => Buffer.from(`x${value}`).toString('hex').replace(/../g, '\\x$&')),
  }
}
export type VectorFiles = ReturnType<typeof writeVectors>
