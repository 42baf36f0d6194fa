// What comes from elsewhere, and what must not leave: a scan for secrets in all files of the repository, known
// vulnerabilities of what the services run on, a bill of materials (CycloneDX), and the client as it is published, read by
// two judges of packages. Exit status 1 on any finding.
import { execFileSync, spawnSync } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { billOfMaterials, workspaceOptions } from '../../deploy/bill-of-materials.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../../', import.meta.url))
const results = join(root, '.cache/supply-chain')
/** Set it where the registry is known to answer, so that a missing answer is a failure. */
const requireAudit = process.env.REQUIRE_AUDIT === 'true'

/** Keys of test certificates, whose authority nobody trusts. */
const accepted = /^services\/webhooks\/test\/sending\/certificates\/.*\.key$/

const outcomes: (readonly [check: string, outcome: 'passed' | 'found' | 'skipped', what: string])[] = []

function npm(...args: readonly string[]) {
  return spawnSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
}

/** @returns what was found; nothing when there is no secret in the files */
function secretsIn(files: readonly string[], folder: string): string {
  const options = ['--secretlintrc', join(here, 'secretlint.json')]
  const program = join(here, 'node_modules/.bin/secretlint')
  const { status, stdout, stderr } = spawnSync(program, [...options, '--maskSecrets', ...files], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (status !== 0 && status !== 1) throw new Error(`secretlint ended with ${status}: ${stderr}`)
  return status === 0 ? '' : stdout
}

/** A scanner that finds nothing is believed only if it finds what is there. */
function assertFindsSecrets(): void {
  const folder = mkdtempSync(join(tmpdir(), 'secrets-'))
  try {
    const pem = {
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    } as const
    const hex = randomBytes(32).toString('hex')
    const planted = {
      'operator.ts': `const secret = 'sk_${hex}'`,
      'webhook.ts': `const secret = 'whsec_${randomBytes(32).toString('base64url')}'`,
      'database.env': `DATABASE_URL=postgres://backoffice:${hex}@db.backoffice.example.com/backoffice`,
      'private.pem': generateKeyPairSync('rsa', { modulusLength: 2048, ...pem }).privateKey.toString(),
    }
    for (const [name, text] of Object.entries(planted)) {
      writeFileSync(join(folder, name), text)
      if (secretsIn([name], folder) === '') throw new Error(`the scanner does not find what was planted in ${name}`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function installScanners(): void {
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: here,
    stdio: 'inherit',
  })
}

function scanForSecrets(): void {
  assertFindsSecrets()
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0')
  const found = secretsIn(
    files.filter((file) => file !== '' && !accepted.test(file)),
    root,
  )
  outcomes.push(['secrets', found === '' ? 'passed' : 'found', found || `none in ${files.length - 1} files`])
}

interface Audit {
  readonly metadata?: { readonly vulnerabilities: Readonly<Record<string, number>> }
}

function audit(): void {
  // Not every registry mirror knows of vulnerabilities.
  const { stdout } = npm('audit', '--json', '--omit', 'dev', '--package-lock-only', ...workspaceOptions)
  const { metadata } = JSON.parse(stdout || '{}') as Audit
  if (metadata === undefined) {
    outcomes.push(['audit', requireAudit ? 'found' : 'skipped', 'the registry does not say what is vulnerable'])
    return
  }
  const { high = 0, critical = 0, total = 0 } = metadata.vulnerabilities
  const what = `${total} known vulnerabilities, ${high + critical} of them high or critical`
  outcomes.push(['audit', high + critical > 0 ? 'found' : 'passed', `${what} (npm audit --omit dev says which)`])
}

function writeBillOfMaterials(): void {
  const bill = billOfMaterials(root)
  const foreign = bill.components.filter(({ purl }) => !purl.startsWith('pkg:npm/%40backoffice/'))
  const unknown = foreign.filter(({ hashes = [] }) => hashes.length === 0).map(({ name }) => name)
  mkdirSync(results, { recursive: true })
  const file = join(results, 'sbom.cdx.json')
  writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string }
  const what = `${foreign.length} packages of release ${version}, each with its hash: ${file}`
  outcomes.push(
    unknown.length === 0 ? ['sbom', 'passed', what] : ['sbom', 'found', `without a hash: ${unknown.join(', ')}`],
  )
}

/** Whether every kind of resolution finds the client's code and the types that belong to it. */
function judgeClient(): void {
  const client = join(root, 'packages/client')
  execFileSync(process.execPath, ['scripts/build.ts'], { cwd: client, stdio: 'inherit' })
  for (const [judge, ...options] of [
    ['publint', '--strict'],
    ['attw', '--pack', '--no-color', '--no-emoji'],
  ] as const) {
    const { status, stdout, stderr } = spawnSync(join(here, 'node_modules/.bin', judge), [...options, 'dist'], {
      cwd: client,
      encoding: 'utf8',
    })
    outcomes.push([judge, status === 0 ? 'passed' : 'found', status === 0 ? 'the client is in order' : stdout + stderr])
  }
}

installScanners()
scanForSecrets()
audit()
writeBillOfMaterials()
judgeClient()
for (const [check, outcome, what] of outcomes) process.stdout.write(`${check.padEnd(8)} ${outcome.padEnd(8)} ${what}\n`)
process.exitCode = outcomes.some(([, outcome]) => outcome === 'found') ? 1 : 0
