import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { languages, type SnippetPurpose, snippetFile } from '../src/index.ts'
import type { Command, VectorFiles, Workshop } from './workshop.ts'

const drivers = fileURLToPath(new URL('./drivers/', import.meta.url))

/** How a language's snippets are run: against the vectors, and as the programs that a reader runs. */
export interface Runtime {
  /** What must be installed, and where Debian has it. */
  readonly command: string
  readonly debianPackage: string
  verifyVectors(shop: Workshop, vectors: VectorFiles): string
  program(shop: Workshop, purpose: SnippetPurpose): Command
}

/** The path of a snippet. */
export function snippet(language: string, purpose: SnippetPurpose): string {
  const filename = languages.find(({ id }) => id === language)?.files[purpose]
  if (filename === undefined) throw new Error(`${language} has no program to ${purpose}`)
  return fileURLToPath(snippetFile(language, filename))
}

const folderOf = (language: string) => join(snippet(language, 'sign-request'), '..')

const script = (
  language: string,
  { command, debianPackage, driver }: { command: string; debianPackage: string; driver: string },
): Runtime => ({
  command,
  debianPackage,
  verifyVectors: (shop, vectors) => {
    const file = language === 'bash' ? vectors.escaped : vectors.json
    return shop.run(command, [join(drivers, driver), file, folderOf(language)])
  },
  program: (_shop, purpose) => [command, snippet(language, purpose)],
})

const classes: Readonly<Record<SnippetPurpose, string>> = {
  'sign-request': 'SignRequest',
  'verify-webhook': 'VerifyWebhook',
  'receive-webhook': 'ReceiveWebhook',
}
const javaClasses = (shop: Workshop) =>
  shop.once('java', (folder) =>
    shop.run('javac', [
      ...['-encoding', 'UTF-8', '-d', folder, join(drivers, 'Driver.java')],
      ...(Object.keys(classes) as SnippetPurpose[]).map((purpose) => snippet('java', purpose)),
    ]),
  )
// A quick start matters more here than fast code.
const java = (shop: Workshop, ...args: string[]): Command => [
  ...(['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'] as const),
  ...['-cp', javaClasses(shop), ...args],
]

const csharpProgram = (shop: Workshop) =>
  shop.once('driver.exe', (program) =>
    shop.run('mcs', [
      ...['-r:System.Net.Http.dll', '-main:Driver', `-out:${program}`, join(drivers, 'Driver.cs')],
      ...(Object.keys(classes) as SnippetPurpose[]).map((purpose) => snippet('csharp', purpose)),
    ]),
  )

/** Files that are named on the command line are compiled whatever their build tag says, as a reader does it. */
function goVectors(shop: Workshop, vectors: VectorFiles, purpose: SnippetPurpose): number {
  const driver = join(drivers, `go-${purpose}`, 'driver_test.go')
  const files = [snippet('go', purpose), driver].map((file) => shop.copy(file))
  const output = shop.run('go', ['test', '-v', '-count=1', ...files], { VECTORS: vectors.json })
  return Number(/verified (\d+)/.exec(output)?.[1] ?? 0)
}

export const runtimes: Readonly<Record<string, Runtime>> = {
  node: script('node', { command: process.execPath, debianPackage: 'the node package', driver: 'driver.mjs' }),
  python: script('python', { command: 'python3', debianPackage: 'python3', driver: 'driver.py' }),
  ruby: script('ruby', { command: 'ruby', debianPackage: 'ruby', driver: 'driver.rb' }),
  bash: script('bash', { command: 'bash', debianPackage: 'bash, openssl, curl', driver: 'driver.sh' }),
  php: script('php', { command: 'php', debianPackage: 'php-cli', driver: 'driver.php' }),
  java: {
    command: 'javac',
    debianPackage: 'default-jdk-headless',
    verifyVectors(shop, vectors) {
      const [command, ...args] = java(shop, 'Driver', vectors.lines)
      return shop.run(command, args)
    },
    program: (shop, purpose) => java(shop, classes[purpose]),
  },
  go: {
    command: 'go',
    debianPackage: 'golang-go',
    verifyVectors: (shop, vectors) =>
      `verified ${goVectors(shop, vectors, 'sign-request') + goVectors(shop, vectors, 'verify-webhook')}`,
    program: (shop, purpose) => [
      shop.once(`go-${purpose}`, (program) => shop.run('go', ['build', '-o', program, snippet('go', purpose)])),
    ],
  },
  csharp: {
    command: 'mcs',
    debianPackage: 'mono-mcs mono-runtime libmono-system-net-http4.0-cil',
    verifyVectors: (shop, vectors) => shop.run('mono', [csharpProgram(shop), 'vectors', vectors.lines]),
    program: (shop, purpose) => ['mono', csharpProgram(shop), classes[purpose]],
  },
}
