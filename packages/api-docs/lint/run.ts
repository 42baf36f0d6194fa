// Checks the public documents with other people's tools: redocly and spectral read the OpenAPI document, a generator
// makes clients of it that must compile and take tomorrow's fields, newman runs the Postman collection from top to bottom
// against a fresh stack. Exit status 1 on any finding.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startSystem } from '@backoffice/test-kit'
import { openApiDocument, providers } from '../src/index.ts'

/**
 * What an integrator writes with a client that another tool generates from the OpenAPI document. The programs are compiled
 * under strict: the tool must understand the document, and the union of error codes with their details must arrive in its
 * types. The one with a validator is run as well. The types of openapi-typescript are those of packages/client.
 */
interface Generator {
  readonly name: string
  readonly command: string
  /** Writes the client beside the program. */
  readonly args: (document: string, folder: string) => readonly string[]
  readonly program: string
  /** With the document as its argument. */
  readonly isRun?: boolean
}

const generators: readonly Generator[] = [
  {
    name: '@hey-api/openapi-ts',
    command: 'openapi-ts',
    args: (document, folder) => ['--input', document, '--output', `${folder}/generated`, '--no-log-file'],
    program: `import { createDeposit, type Deposit, getKyc, type KycStatus } from './generated/index.ts'

export async function depositOnce(playerId: string, reference: string): Promise<Deposit | string> {
  const { data, error } = await createDeposit({
    path: { playerId },
    headers: { 'Idempotency-Key': \`\${reference}:create\` },
    body: { amount: '150.00', currency: 'BRL', method: 'pix', externalReference: reference },
  })
  if (data !== undefined) return data
  const refusal = error.error
  switch (refusal.code) {
    case 'DEPOSIT_ALREADY_EXISTS':
      return refusal.details.depositId
    case 'RG_BLOCKED': {
      const reason: 'self_exclusion' | 'daily_limit' | 'sandbox_trigger' = refusal.details.reason
      return reason
    }
    case 'VALIDATION_ERROR':
      return refusal.details.issues.map(({ path, message }) => \`\${path} \${message}\`).join('\\n')
    // @ts-expect-error: no code of this operation
    case 'GAME_NOT_FOUND':
      return ''
    default:
      return refusal.message
  }
}

export async function isApproved(playerId: string): Promise<boolean> {
  const { data } = await getKyc({ path: { playerId }, throwOnError: true })
  const status: KycStatus = data.kycStatus
  return status === 'aprovado'
}
`,
  },
  {
    name: '@hey-api/openapi-ts with valibot',
    command: 'openapi-ts',
    args: (document, folder) => [
      ...['--input', document, '--output', `${folder}/generated`, '--no-log-file', '--plugins', 'valibot'],
    ],
    isRun: true,
    program: `import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import * as generated from './generated/valibot.gen.ts'

const schemas = generated as unknown as Record<string, v.GenericSchema | undefined>
const nameOf = (id: string, suffix: string) =>
  'v' + id.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('') + suffix

/** As a later version may send it: each object has one more field. */
function grown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(grown)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([name, field]) => [name, grown(field)])
  return { ...Object.fromEntries(fields), fieldOfTomorrow: { value: 'x' } }
}

const { paths, webhooks } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
const sent: [name: string, example: unknown][] = []
for (const operation of Object.values<Record<string, any>>(paths).flatMap((methods) => Object.values(methods)))
  for (const [status, { content }] of Object.entries<any>(operation.responses))
    if (status.startsWith('2') && content['application/json']?.example !== undefined)
      sent.push([nameOf(operation.operationId, 'Response'), content['application/json'].example])
for (const [kind, { post }] of Object.entries<any>(webhooks))
  sent.push([nameOf(kind, 'Event'), post.requestBody.content['application/json'].example])

const isTaken = (name: string, value: unknown): boolean => {
  const schema = schemas[name]
  if (schema === undefined) throw new Error(\`no schema \${name}\`)
  return v.safeParse(schema, value).success
}

if (sent.length < 15) throw new Error(\`\${sent.length} examples\`)
const today = sent.filter(([name, example]) => !isTaken(name, example)).map(([name]) => name)
const tomorrow = sent.filter(([name, example]) => !isTaken(name, grown(example))).map(([name]) => name)
// The document says that GET /me has no other fields.
if (today.length > 0 || tomorrow.join() !== 'vGetMeResponse')
  throw new Error(\`refused today: \${today.join()}; with one more field: \${tomorrow.join()}\`)
`,
  },
]

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
  const ofProviders = join(folder, 'providers.json')
  const baseUrl = `https://providers.backoffice.invalid${providers.prefix}`
  writeFileSync(ofProviders, JSON.stringify(openApiDocument({ baseUrl, surface: providers })))
  for (const document of [openapi, ofProviders]) {
    check(`redocly, recommended-strict: ${basename(document)}`, 'redocly', [
      'lint',
      '--config',
      'redocly.yaml',
      document,
    ])
    check(`spectral, OpenAPI and OWASP rules: ${basename(document)}`, 'spectral', [
      ...['lint', document, '--ruleset', 'spectral.yaml', '--fail-severity=hint'],
    ])
  }
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
