// proof: builds the package, installs it elsewhere, and runs it in every runtime. transport.test.ts tests its code.

import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { signWebhook } from '@backoffice/contracts/signing'
import { skipWithout, temporaryFolder } from '@backoffice/test-kit'
import { fastify } from 'fastify'
import t from 'tap'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = temporaryFolder(t)
// Deno keeps what it has compiled; here, and not with whoever runs this.
const env = { ...process.env, DENO_DIR: join(folder, 'deno') }
const run = (command: string, args: readonly string[], cwd = folder) =>
  execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: 'pipe' })

// The package as it is published, installed in an empty project.
run(process.execPath, ['scripts/build.ts'], root)
writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'empty', private: true }))
const quietly = ['--silent', '--offline', '--no-audit', '--no-fund']
run('npm', ['install', ...quietly, '--install-links', join(root, 'dist')])
const installed = join(folder, 'node_modules/@backoffice/client')
const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
/** As `npm pack` calls it. */
const tarball = `backoffice-client-${manifest.version}.tgz`

const program = `
const client = new BackOfficeClient({ baseUrl: 'http://127.0.0.1:1/api/v1', key: 'bk_test_x', secret: 'sk_x', attemptsMax: 1 })
client.me().catch((error) => {
  const headers = new Headers({ 'x-webhook-timestamp': '1' })
  try {
    verifyWebhook({ secret: 'whsec_x', headers, rawBody: '{}' })
  } catch (refused) {
    console.log(error instanceof ConnectionError, error.name, refused.name)
  }
})
`
const names = '{ BackOfficeClient, ConnectionError, verifyWebhook }'
writeFileSync(join(folder, 'call.mjs'), `import ${names} from '@backoffice/client'\n${program}`)
writeFileSync(join(folder, 'call.cjs'), `const ${names} = require('@backoffice/client')\n${program}`)
const printed = 'true ConnectionError WebhookVerificationError\n'

t.test('the package has no dependency, no script, and the terms of the repository', async (t) => {
  t.same(
    Object.keys(manifest).filter((key) => /ependencies|scripts|private/.test(key)),
    [],
  )
  t.equal(readFileSync(join(installed, 'LICENSE'), 'utf8'), readFileSync(join(root, '../../LICENSE'), 'utf8'))
  t.same(
    readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.')),
    ['@backoffice'],
  )
  // It names nothing that stands in the repository only.
  t.notMatch(readFileSync(join(installed, 'README.md'), 'utf8'), /\]\(\.\./)
})

t.test('ES modules and CommonJS run it', async (t) => {
  for (const file of ['call.mjs', 'call.cjs']) t.equal(run('node', [file]), printed, file)
})

t.test('Bun runs it', { skip: skipWithout('bun', 'not there; npm run test-tools has it') }, async (t) => {
  for (const file of ['call.mjs', 'call.cjs']) t.equal(run('bun', [file]), printed, file)
})

t.test('Deno runs it', { skip: skipWithout('deno', 'not there; npm run test-tools has it') }, async (t) => {
  const permitted = ['--no-remote', '--node-modules-dir=manual', '--allow-net=127.0.0.1', '--allow-env']
  t.equal(run('deno', ['run', ...permitted, 'call.mjs']), printed)
})

t.test('its program is there', async (t) => {
  const listen = (...args: readonly string[]) =>
    spawnSync(join(folder, 'node_modules/.bin/backoffice-listen'), args, {
      encoding: 'utf8',
      env: { ...process.env, WEBHOOK_SECRET: '' },
    })
  t.match(listen('--help'), { status: 0, stdout: /--forward-to URL/ })
  t.match(listen('--version'), { status: 0, stdout: /^\d+\.\d+\.\d+\n$/ })
  t.match(listen(), { status: 1, stderr: /^WEBHOOK_SECRET is not set/ })
})

t.test('the documents install it from its file, and run what is installed', async (t) => {
  for (const document of ['README.md', '../../docs/webhooks.md']) {
    const text = readFileSync(join(root, document), 'utf8')
    t.ok(text.includes(`npm install ./${tarball}`), `${document} names ${tarball}`)
    // npx would fetch what is not installed from the public registry, and hand the secret to it.
    const programs = [...text.matchAll(/WEBHOOK_SECRET=\S+ (.*?) --forward-to/g)].map(([, program]) => program)
    t.same(programs, ['node_modules/.bin/backoffice-listen'], document)
  }
})

const typed = `
import { BackOfficeError, type BackOfficeClient, type Deposit, type WebhookEvent } from '@backoffice/client'
export const status = (deposit: Deposit): 'pending' | 'confirmed' | 'failed' => deposit.status
export const reference = (event: WebhookEvent): string => event.type === 'deposit.confirmed' ? event.data.externalReference : event.id
export const taken = (error: unknown) => error instanceof BackOfficeError && error.code === 'PLAYER_ALREADY_EXISTS' ? error.details.playerId : undefined
// @ts-expect-error a player needs more than a name
export const register = (client: BackOfficeClient) => client.registerPlayer({ name: 'Ana' })
`

/** The code of the README, each block a file of its own, as whoever pastes it has it. */
const blocks = Object.fromEntries(
  [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/```ts\n(.*?)```/gs)].map(([, block = ''], index) => [
    `block-${index + 1}.mts`,
    block,
  ]),
)
const blockWith = (text: string) => Object.entries(blocks).find(([, block]) => block.includes(text))?.[0] ?? ''

/** Compiles files in a project of their own, with the compiler of operators or with that of this repository. */
function compile(name: string, files: Readonly<Record<string, string>>, options: object, compiler: string) {
  mkdirSync(join(folder, name))
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, name, file), text)
  const strict = { noEmit: true, strict: true, target: 'es2022', types: [] }
  const compilerOptions = { ...strict, typeRoots: [join(root, '../../node_modules/@types')], ...options }
  writeFileSync(join(folder, name, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  const { status, stdout } = spawnSync(process.execPath, [compiler, '--project', join(folder, name)], {
    encoding: 'utf8',
  })
  return { status, stdout }
}
const compiled = { status: 0, stdout: '' }
const classic = fileURLToPath(import.meta.resolve('typescript/lib/tsc.js'))
const native = join(root, '../../node_modules/typescript/bin/tsc')

t.test('its types are there for CommonJS and for bundlers, with nothing else installed', async (t) => {
  t.same(compile('node16', { 'call.cts': typed }, { module: 'node16' }, classic), compiled)
  const bundler = { module: 'esnext', moduleResolution: 'bundler' }
  t.same(compile('bundler', { 'call.ts': typed }, bundler, native), compiled)
})

t.test('they are there for ES modules, and every block of the README compiles as it is pasted', async (t) => {
  t.ok(Object.keys(blocks).length > 7)
  const exact = { noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, noUnusedLocals: true }
  const nodenext = { module: 'nodenext', types: ['node'], ...exact }
  // Fastify's own declarations are of no concern here.
  const declarations = [join(root, '../../node_modules/fastify/fastify.d.ts')]
  const { [blockWith('fastify')]: withFastify = '', ...alone } = blocks
  t.same(compile('readme', { ...alone, 'call.mts': typed, 'call.cts': typed }, nodenext, native), compiled)
  const more = { skipLibCheck: true, paths: { fastify: declarations } }
  t.same(compile('fastify', { 'block.mts': withFastify }, { ...nodenext, ...more }, native), compiled)
})

/** A handler of the README as it is pasted, beside the installed package. */
async function handlerIn(text: string) {
  const file = join(folder, blockWith(text))
  writeFileSync(file, blocks[blockWith(text)] ?? '')
  return import(file)
}

t.test('the handlers of the README take what is genuine, and refuse what is not', async (t) => {
  process.env.WEBHOOK_SECRET = 'whsec_a'
  const [{ POST }, { receive }, { webhooks }] = await Promise.all(
    ['POST(', 'receive(', 'webhooks('].map((name) => handlerIn(`function ${name}`)),
  )
  // What express.raw() does.
  const raw = createServer(async (request, response) =>
    receive(Object.assign(request, { body: Buffer.concat(await Array.fromAsync(request)) }), response),
  )
  await once(raw.listen(0, '127.0.0.1'), 'listening')
  const app = fastify()
  app.post('/others', async ({ body }) => body)
  await app.register(webhooks)
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => Promise.all([raw.close(), app.close()]))
  const body = JSON.stringify({ id: 'evt_1', type: 'webhook.test', data: { message: 'João' } })
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = signWebhook('whsec_a', { timestamp, body })
  const asked = (given: string) => ({
    ...{ method: 'POST', body },
    headers: {
      'content-type': 'application/json',
      'x-webhook-timestamp': timestamp,
      'x-webhook-signature': given,
    },
  })
  const senders: readonly ((init: RequestInit) => Promise<Response>)[] = [
    (init) => POST(new Request('http://127.0.0.1/webhooks', init)),
    (init) => fetch(`http://127.0.0.1:${(raw.address() as AddressInfo).port}/webhooks`, init),
    (init) => fetch(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}/webhooks`, init),
  ]
  for (const send of senders) {
    t.equal((await send(asked(signature))).status, 204)
    const refused = await send(asked('0'.repeat(64)))
    t.same([refused.status, await refused.text()], [401, 'the signature does not match'])
  }
  const other = await app.inject({ method: 'POST', url: '/others', payload: { parsed: true } })
  t.same(other.json(), { parsed: true }, 'JSON of other routes is parsed as before')
})

t.test('its file has the package, and nothing of the repository', async (t) => {
  const [{ files }] = JSON.parse(run('npm', ['pack', '--dry-run', '--json', '--silent'], join(root, 'dist')))
  const kinds = (files as { path: string }[]).map(({ path }) =>
    path.replace(/^(esm|cjs)\/[\w-]+\.d\.ts$/, '$1/*.d.ts').replace(/^(esm|cjs)\/index\.js$/, '$1/*.js'),
  )
  const both = ['cjs', 'esm'].flatMap((kind) => [`${kind}/*.d.ts`, `${kind}/*.js`])
  const single = ['CHANGELOG.md', 'LICENSE', 'README.md', 'cjs/package.json', 'listen.js', 'package.json']
  t.same([...new Set(kinds)].sort(), [...single, ...both].sort())
  t.match(manifest, { name: '@backoffice/client', license: 'UNLICENSED', type: 'module' })
  for (const face of [manifest.exports['.'].import, manifest.exports['.'].require])
    for (const file of Object.values<string>(face))
      t.ok(
        files.some(({ path }: { path: string }) => `./${path}` === file),
        file,
      )
})
