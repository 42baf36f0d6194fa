// Checks the public documents with other people's tools: redocly and spectral read the OpenAPI document, generators make
// clients of it that must compile and take tomorrow's fields, newman runs the Postman collection from top to bottom against a fresh stack. Exit
// status 1 on any finding.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startSystem } from '@backoffice/test-kit'
import { type Generator, generators } from './generated-clients.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'documents-'))
const endings: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
let findings = 0

function check(title: string, command: string, args: readonly string[]): void {
  process.stdout.write(`\n${title}\n`)
  const program = command === 'node' ? process.execPath : join(here, 'node_modules/.bin', command)
  const { status } = spawnSync(program, args, { cwd: here, stdio: 'inherit' })
  if (status !== 0) findings += 1
}

/** Generates a client, and compiles a program that uses it, or runs it as well. */
function checkClient({ name, command, args, program, isRun = false }: Generator, document: string): void {
  const clientFolder = mkdtempSync(join(folder, 'client-'))
  writeFileSync(join(clientFolder, 'program.ts'), program)
  check(`${name}, generates a client`, command, args(document, clientFolder))
  const flags = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--lib',
    'es2022,dom,dom.iterable',
  ]
  check(`${name}, compiles under strict`, 'tsc', [
    ...flags,
    '--allowImportingTsExtensions',
    join(clientFolder, 'program.ts'),
  ])
  if (isRun)
    check(`${name}, takes replies and events with one more field`, 'node', [join(clientFolder, 'program.ts'), document])
}

/** Saves a document with an https address, as production would show it, because the linters object to plain http. */
async function save(baseUrl: string, name: string): Promise<string> {
  const file = join(folder, name)
  const text = await (await fetch(`${baseUrl}/${name}`)).text()
  writeFileSync(file, text.replaceAll(baseUrl, 'https://api.backoffice.invalid/api/v1'))
  return file
}

try {
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: here, stdio: 'inherit' })
  // What the generated clients import.
  symlinkSync(join(here, 'node_modules'), join(folder, 'node_modules'))
  const system = await startSystem({ teardown: (end) => endings.push(end) })
  const sandbox = system.operators[0]?.sandbox
  const openapi = await save(system.baseUrl, 'openapi.json')
  const collection = await save(system.baseUrl, 'postman.json')
  check('redocly, recommended-strict', 'redocly', ['lint', '--config', 'redocly.yaml', openapi])
  check('spectral, OpenAPI and OWASP rules', 'spectral', [
    'lint',
    openapi,
    '--ruleset',
    'spectral.yaml',
    '--fail-severity=hint',
  ])
  for (const generator of generators) checkClient(generator, openapi)
  const variables = [
    `baseUrl=${system.baseUrl}`,
    `operatorKey=${sandbox?.key}`,
    `operatorSecret=${sandbox?.secret}`,
  ].flatMap((pair) => ['--env-var', pair])
  check('newman, the whole collection', 'newman', [
    'run',
    collection,
    ...variables,
    '--reporters',
    'cli',
    '--reporter-cli-no-banner',
  ])
} finally {
  for (const end of endings.reverse()) await end()
}
process.stdout.write(findings === 0 ? '\nThe documents pass.\n' : `\n${findings} of the checks found something.\n`)
process.exitCode = findings === 0 ? 0 : 1
