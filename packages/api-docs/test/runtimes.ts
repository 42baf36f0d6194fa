import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { languages, type SnippetPurpose, snippetFile } from '../src/index.ts'
import type { Command, VectorFiles, Workshop } from './workshop.ts'

const drivers = fileURLToPath(new URL('./drivers/', import.meta.url))

/** How a language's snippets are run, each in one process: against all vectors, and as the programs that a reader runs. */
export interface Runtime {
  /** What must be installed, and where Debian has it. */
  readonly command: string
  readonly debianPackage: string
  vectors(shop: Workshop, files: VectorFiles): Command
  program(shop: Workshop, purpose: SnippetPurpose): Command
}

/** The path of a snippet. */
export function snippet(language: string, purpose: SnippetPurpose): string {
  const filename = languages.find(({ id }) => id === language)?.files[purpose]
  if (filename === undefined) throw new Error(`${language} has no program to ${purpose}`)
  return fileURLToPath(snippetFile(language, filename))
}

interface Script extends Pick<Runtime, 'command' | 'debianPackage'> {
  readonly driver: string
  readonly reads?: keyof VectorFiles
}
const script = (language: string, { driver, reads = 'json', ...installed }: Script): Runtime => ({
  ...installed,
  vectors(_shop, files) {
    const folder = join(snippet(language, 'sign-request'), '..')
    return [installed.command, join(drivers, driver), String(files[reads]), folder]
  },
  program: (_shop, purpose) => [installed.command, snippet(language, purpose)],
})

const compiled = ['sign-request', 'verify-webhook'] as const
const classes: Readonly<Record<string, string>> = { 'sign-request': 'SignRequest', 'verify-webhook': 'VerifyWebhook' }

/** Runs a class of all that were compiled together. A quick start matters more here than fast code. */
const java = (shop: Workshop, ...args: string[]): Command => {
  const files = compiled.map((purpose) => snippet('java', purpose))
  const folder = shop.once('java', (folder) =>
    shop.run('javac', ['-encoding', 'UTF-8', '-d', folder, join(drivers, 'Driver.java'), ...files]),
  )
  return ['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-cp', folder, ...args]
}

const csharp = (shop: Workshop, ...args: string[]): Command => {
  const files = compiled.map((purpose) => snippet('csharp', purpose))
  const program = shop.once('driver.exe', (program) =>
    shop.run('mcs', [
      ...['-r:System.Net.Http.dll', '-main:Driver', `-out:${program}`],
      ...[join(drivers, 'Driver.cs'), ...files],
    ]),
  )
  return ['mono', program, ...args]
}

/** One program of all: a reader compiles each by itself, where its build tag keeps them apart. */
const go = (shop: Workshop, ...args: string[]): Command => {
  const program = shop.once('go-driver', (program) => {
    const files = compiled.map((purpose) => {
      const name = purpose.replace('-', '_')
      const code = readFileSync(snippet('go', purpose), 'utf8')
      return shop.write(`${name}.go`, code.replace('//go:build ignore\n', '').replace('func main()', `func ${name}()`))
    })
    // Without optimisation, which takes longer than what it saves.
    shop.run('go', ['build', '-gcflags=-N -l', '-o', program, shop.copy(join(drivers, 'driver.go')), ...files])
  })
  return [program, ...args]
}

export const runtimes: Readonly<Record<string, Runtime>> = {
  node: script('node', { command: process.execPath, debianPackage: 'the node package', driver: 'driver.mjs' }),
  python: script('python', { command: 'python3', debianPackage: 'python3', driver: 'driver.py' }),
  ruby: script('ruby', { command: 'ruby', debianPackage: 'ruby', driver: 'driver.rb' }),
  bash: script('bash', {
    ...{ command: 'bash', debianPackage: 'bash, openssl, curl', driver: 'driver.sh', reads: 'escaped' },
  }),
  php: script('php', { command: 'php', debianPackage: 'php-cli', driver: 'driver.php' }),
  java: {
    ...{ command: 'javac', debianPackage: 'default-jdk-headless' },
    vectors: (shop, files) => java(shop, 'Driver', files.lines),
    program: (shop, purpose) => java(shop, classes[purpose] ?? purpose),
  },
  go: {
    ...{ command: 'go', debianPackage: 'golang-go' },
    vectors: (shop, files) => go(shop, 'vectors', files.json),
    program: (shop, purpose) => go(shop, purpose),
  },
  csharp: {
    ...{ command: 'mcs', debianPackage: 'mono-mcs mono-runtime libmono-system-net-http4.0-cil' },
    vectors: (shop, files) => csharp(shop, 'vectors', files.lines),
    program: (shop, purpose) => csharp(shop, classes[purpose] ?? purpose),
  },
}
