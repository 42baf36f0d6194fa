// Makes a release of what is checked out, here and nowhere else: the version in all its places, the date in the
// changelog, the published document and the bill of materials, one commit and one tag. It pushes nothing.
//
//   npm run release -- 1.2.0
//   npm run release -- 1.2.0 --date 2027-01-31
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { billOfMaterials } from './bill-of-materials.ts'

// Where it is run: npm does so at the root of the repository.
const root = process.cwd()
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const write = (file: string, text: string) => writeFileSync(join(root, file), text)
const run = (command: string, args: readonly string[], cwd = root) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 64 * 2 ** 20, stdio: ['ignore', 'pipe', 'inherit'] })
const git = (...args: readonly string[]) => run('git', args).trim()

class Refusal extends Error {}

/** Which tags run, in every overlay. */
const images = 'deploy/k8s/components/release/kustomization.yaml'

/** Where the version is written, besides package.json: a text around it that is there once or more. */
const places: readonly { readonly file: string; readonly around: (version: string) => string }[] = [
  { file: 'packages/contracts/src/resources.ts', around: (version) => `apiVersion = '${version}'` },
  { file: 'packages/api-docs/test/compatibility.test.ts', around: (version) => `released/openapi-${version}.json` },
  { file: 'docs/webhooks.md', around: (version) => `"apiVersion":"${version}"` },
  { file: 'test/e2e/rules.test.ts', around: (version) => `apiVersion: '${version}'` },
  { file: images, around: (version) => `newTag: ${version}` },
  { file: images, around: (version) => `VERSION=${version}` },
  { file: 'deploy/argocd/application.yaml', around: (version) => `targetRevision: v${version}` },
]

function writeVersion(from: string, to: string): void {
  const workspaces = git('ls-files', 'package.json', '*/package.json').split('\n')
  for (const file of workspaces) {
    const text = read(file)
    const { name } = JSON.parse(text) as { readonly name: string }
    if (name !== 'operator-back-office' && !name.startsWith('@backoffice/')) continue
    const own = new RegExp(`("(?:version|@backoffice/[\\w-]+)": ")${RegExp.escape(from)}"`, 'g')
    write(file, text.replaceAll(own, `$1${to}"`))
  }
  for (const { file, around } of places) {
    const text = read(file)
    if (!text.includes(around(from))) throw new Refusal(`${file} does not say: ${around(from)}`)
    write(file, text.replaceAll(around(from), around(to)))
  }
  // The digests are those of the images of before.
  write(images, read(images).replaceAll(/(name: backoffice\/.*newTag: [\w.-]+), digest: "[^"]*"/g, '$1'))
  run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'])
}

/** @throws when nothing is written under Unreleased */
function dateChangelog(version: string, date: string): void {
  const text = read('CHANGELOG.md')
  const [, news = ''] = /^## Unreleased\n([\s\S]*?)(?=^## )/m.exec(text) ?? []
  if (news.trim() === '') throw new Refusal('CHANGELOG.md has nothing under Unreleased')
  // The client has the same version. It may have nothing new.
  for (const file of ['CHANGELOG.md', 'packages/client/CHANGELOG.md'])
    write(file, read(file).replace('## Unreleased\n', `## Unreleased\n\n## ${version} - ${date}\n`))
}

/** With the new version, so in a process that has read the new sources. */
function writeDocuments(version: string): void {
  const folder = 'packages/api-docs'
  const print = (surface: string) => run(process.execPath, ['scripts/print-openapi.ts', surface], join(root, folder))
  write(`${folder}/released/openapi-${version}.json`, print('operators'))
  // Its version is the providers' own, and may be that of the release before.
  const providers = print('providers')
  write(`${folder}/released/providers-${JSON.parse(providers).info.version}.json`, providers)
  mkdirSync(join(root, 'deploy/sbom'), { recursive: true })
  write('deploy/sbom/sbom.cdx.json', `${JSON.stringify(billOfMaterials(root), null, 2)}\n`)
}

const numbers = (version: string) => version.split('.').map(Number)

function isNewer(version: string, than: string): boolean {
  const [is, was] = [numbers(version), numbers(than)]
  const index = is.findIndex((number, at) => number !== was[at])
  return index >= 0 && (is[index] ?? 0) > (was[index] ?? 0)
}

function main(): void {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { date: { type: 'string' } } })
  const [version = ''] = positionals
  const { version: former } = JSON.parse(read('package.json')) as { readonly version: string }
  const date = values.date ?? new Date().toISOString().slice(0, 10)
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Refusal('give a version: npm run release -- 1.2.0')
  if (!/^\d{4}-\d\d-\d\d$/.test(date)) throw new Refusal(`no date: ${date}`)
  if (!isNewer(version, former)) throw new Refusal(`${version} is not newer than ${former}`)
  if (git('status', '--porcelain') !== '') throw new Refusal('commit or remove what is changed here first')
  if (git('tag', '--list', `v${version}`) !== '') throw new Refusal(`the tag v${version} is there`)
  try {
    dateChangelog(version, date)
    writeVersion(former, version)
    writeDocuments(version)
    git('add', '--all')
    git('commit', '--quiet', '--message', `Release ${version}`)
    git('tag', '--annotate', `v${version}`, '--message', `Release ${version}`)
  } catch (error) {
    // It was clean when this began, so all of it is ours.
    git('reset', '--quiet', '--hard')
    git('clean', '--quiet', '--force', '--', 'packages/api-docs/released', 'deploy/sbom')
    throw error
  }
  process.stdout.write(
    `Committed and tagged as v${version}. CONTRIBUTING.md says what comes next: test, push, images, digests.\n`,
  )
}

try {
  main()
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  process.stderr.write(`Nothing is changed: ${error.message}\n`)
  process.exitCode = 1
}
