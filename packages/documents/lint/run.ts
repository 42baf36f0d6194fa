// Checks the public documents with other people's tools: redocly and spectral read the OpenAPI document, two generators
// make clients of it that must compile, newman runs the Postman collection from top to bottom against a fresh stack. Exit
// status 1 on any finding.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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
  const { status } = spawnSync(join(here, 'node_modules/.bin', command), args, { cwd: here, stdio: 'inherit' })
  if (status !== 0) findings += 1
}

/** Generates a client, and compiles a program that uses it. */
function checkClient({ name, command, args, program }: Generator, document: string): void {
  const clientFolder = join(folder, command)
  mkdirSync(clientFolder)
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
