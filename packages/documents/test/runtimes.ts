import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { testVectors } from '../src/index.ts'

const snippets = fileURLToPath(new URL('../snippets/', import.meta.url))
const drivers = fileURLToPath(new URL('./drivers/', import.meta.url))
/** Kept, so that only the first run compiles what the programs import. Go removes by itself what is old. */
const goCache = fileURLToPath(new URL('../../../.cache/go/', import.meta.url))

/** A folder with the vectors, for drivers with a JSON parser and for those without. */
export class Workshop {
  readonly folder = mkdtempSync(join(tmpdir(), 'snippets-'))
  readonly vectors = join(this.folder, 'vectors.json')
  readonly lines = join(this.folder, 'vectors.txt')
  readonly escaped = join(this.folder, 'vectors-escaped.txt')

  constructor() {
    const { requests, webhooks: timeless, webhookAges } = testVectors()
    const inTime = { toleranceSeconds: 300, accepted: true }
    const webhooks = [...timeless.map((v) => ({ ...v, ...inTime, receivedAt: Number(v.timestamp) })), ...webhookAges]
    writeFileSync(this.vectors, JSON.stringify({ requests, webhooks }))
    const rows = [
      ...requests.map((v) => ['request', v.name, v.secret, v.method, v.path, v.timestamp, v.body, v.signature]),
      ...webhooks.map((v) => [
        ...['webhook', v.name, v.secret, v.timestamp, String(v.toleranceSeconds), String(v.receivedAt)],
        ...[String(v.accepted), v.body, v.signature],
      ]),
    ]
    const write = (file: string, encode: (value: string) => string) =>
      writeFileSync(file, rows.map(([kind, ...values]) => `${[kind, ...values.map(encode)].join(' ')}\n`).join(''))
    write(this.lines, (value) => Buffer.from(`x${value}`).toString('base64'))
    // Bash reads this by itself. It would start a program for each value in base64, which takes ten times as long.
    write(this.escaped, (value) => Buffer.from(`x${value}`).toString('hex').replace(/../g, '\\x$&'))
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  run(
    command: string,
    args: readonly string[],
    options: { readonly cwd?: string; readonly env?: Record<string, string>; readonly input?: string } = {},
  ): string {
    return execFileSync(command, args, {
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'pipe'],
      cwd: options.cwd ?? this.folder,
      env: {
        ...process.env,
        GOCACHE: goCache,
        GOFLAGS: '-mod=mod',
        GO111MODULE: 'off',
        // As in a reader's terminal: without a locale some runtimes take arguments and print as ASCII.
        LC_ALL: 'C.UTF-8',
        ...options.env,
      },
      ...(options.input === undefined ? {} : { input: options.input }),
    })
  }

  copy(from: string, to: string): void {
    mkdirSync(join(this.folder, to, '..'), { recursive: true })
    copyFileSync(from, join(this.folder, to))
  }
}

/** How a language's snippets are run: against the vectors, and as the programs that a reader runs. */
export interface Runtime {
  /** What must be installed, and where Debian has it. */
  readonly command: string
  readonly debianPackage: string
  verifyVectors(shop: Workshop): string
  signRequest(shop: Workshop, args: readonly string[], env: Record<string, string>): string
}

const script = (
  command: string,
  debianPackage: string,
  language: string,
  driver: string,
  snippet: string,
): Runtime => ({
  command,
  debianPackage,
  verifyVectors: (shop) =>
    shop.run(command, [
      join(drivers, driver),
      language === 'bash' ? shop.escaped : shop.vectors,
      join(snippets, language),
    ]),
  signRequest: (shop, args, env) => shop.run(command, [join(snippets, language, snippet), ...args], { env }),
})

const go = (shop: Workshop, part: 'sign' | 'verify', file: string) => {
  shop.copy(join(snippets, 'go', file), `go-${part}/${file}`)
  shop.copy(join(drivers, `go-${part}`, 'driver_test.go'), `go-${part}/driver_test.go`)
  return shop.run('go', ['test', '-v', '-count=1', '.'], {
    cwd: join(shop.folder, `go-${part}`),
    env: { VECTORS: shop.vectors },
  })
}

const count = (output: string) => Number(/verified (\d+)/.exec(output)?.[1] ?? 0)

export const runtimes: Readonly<Record<string, Runtime>> = {
  node: script(process.execPath, 'the node package', 'node', 'driver.ts', 'sign-request.ts'),
  python: script('python3', 'python3', 'python', 'driver.py', 'sign_request.py'),
  php: script('php', 'php-cli', 'php', 'driver.php', 'sign-request.php'),
  ruby: script('ruby', 'ruby', 'ruby', 'driver.rb', 'sign_request.rb'),
  bash: script('bash', 'bash, openssl, curl', 'bash', 'driver.sh', 'sign-request.sh'),
  java: {
    command: 'javac',
    debianPackage: 'default-jdk-headless',
    verifyVectors(shop) {
      const sources = [
        join(snippets, 'java/SignRequest.java'),
        join(snippets, 'java/VerifyWebhook.java'),
        join(drivers, 'Driver.java'),
      ]
      shop.run('javac', ['-encoding', 'UTF-8', '-d', join(shop.folder, 'java'), ...sources])
      return shop.run('java', ['-cp', join(shop.folder, 'java'), 'Driver', shop.lines])
    },
    signRequest: (shop, args, env) =>
      shop.run('java', ['-cp', join(shop.folder, 'java'), 'SignRequest', ...args], { env }),
  },
  go: {
    command: 'go',
    debianPackage: 'golang-go',
    verifyVectors: (shop) =>
      `verified ${count(go(shop, 'sign', 'sign_request.go')) + count(go(shop, 'verify', 'verify_webhook.go'))}`,
    signRequest(shop, args, env) {
      const program = join(shop.folder, 'go-program')
      if (!existsSync(program)) shop.run('go', ['build', '-o', program, join(snippets, 'go/sign_request.go')])
      return shop.run(program, args, { env })
    },
  },
  csharp: {
    command: 'mcs',
    debianPackage: 'mono-mcs mono-runtime libmono-system-net-http4.0-cil',
    verifyVectors(shop) {
      const sources = [
        join(snippets, 'csharp/SignRequest.cs'),
        join(snippets, 'csharp/VerifyWebhook.cs'),
        join(drivers, 'Driver.cs'),
      ]
      shop.run('mcs', ['-r:System.Net.Http.dll', '-main:Driver', `-out:${join(shop.folder, 'driver.exe')}`, ...sources])
      return shop.run('mono', [join(shop.folder, 'driver.exe'), shop.lines])
    },
    signRequest(shop, args, env) {
      const program = join(shop.folder, 'sign.exe')
      const source = join(snippets, 'csharp/SignRequest.cs')
      if (!existsSync(program))
        shop.run('mcs', ['-r:System.Net.Http.dll', '-main:SignRequest', `-out:${program}`, source])
      return shop.run('mono', [program, ...args], { env })
    },
  },
}
