// proof: eight languages, some with a compiler.

import { cpSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { freePort, sharedSystem, skipWithout } from '@backoffice/test-kit'
import t from 'tap'
import { languages, type SnippetPurpose } from '../src/index.ts'
import { checkReceiver, eventsFolder, startReceiver, startReceivingOperator } from './receivers.ts'
import { runtimes, snippet } from './runtimes.ts'
import { newWorkshop, writeVectors } from './workshop.ts'

const shop = newWorkshop(t)
const vectors = writeVectors(shop)
const system = await sharedSystem(t)
const { key, secret } = system.operators[0]?.sandbox ?? { key: '', secret: '' }
const environment = { BASE_URL: system.baseUrl, OPERATOR_KEY: key, OPERATOR_SECRET: secret }
const receivingOperator = await startReceivingOperator(t, system)

t.test('every language has a runtime to be tested with, and all but the shell a receiver', async (t) => {
  t.strictSame(Object.keys(runtimes).sort(), languages.map(({ id }) => id).sort())
  const withoutReceiver = languages.filter(({ files }) => files['receive-webhook'] === undefined)
  t.strictSame(
    withoutReceiver.map(({ id }) => id),
    ['bash'],
  )
})

for (const { id, name, files } of languages) {
  const runtime = runtimes[id]
  if (runtime === undefined) continue
  const skip = skipWithout(runtime.command, runtime.debianPackage)

  t.test(`${name}: the snippets agree with every vector`, { skip }, async (t) => {
    t.equal(runtime.verifyVectors(shop, vectors).match(/verified (\d+)/)?.[1], String(vectors.count))
  })

  t.test(`${name}: the program is accepted by the running gateway`, { skip }, async (t) => {
    const [command, ...program] = runtime.program(shop, 'sign-request')
    const call = (...args: string[]) => shop.run(command, [...program, ...args], environment)
    t.match(call('GET', '/me'), '"isSandbox":true')
    const player = {
      externalId: `snippet-${id}`,
      name: 'João',
      email: 'a@b.co',
      cpf: '52998224725',
      birthDate: '1990-05-17',
    }
    t.match(call('POST', '/players', JSON.stringify(player), `snippet-${id}-1`), `"externalId":"snippet-${id}"`)
    t.match(call('GET', `/players?externalId=snippet-${id}`), '"João"')
  })

  t.test(`${name}: a program without its arguments says in one line how it is used`, { skip }, async (t) => {
    for (const [purpose, filename] of Object.entries(files) as [SnippetPurpose, string][]) {
      const { status, stderr, stdout } = shop.attempt(runtime.program(shop, purpose))
      const name = filename.replace(/\.\w+$/, '')
      t.match({ status, lines: stderr.trim().split('\n') }, { status: 2, lines: [/^usage: /] }, filename)
      t.match(stderr, name)
      t.equal(stdout, '')
    }
  })

  if (files['receive-webhook'] === undefined) continue
  t.test(`${name}: the receiver takes what the system sends, once, and nothing else`, { skip }, (t) =>
    checkReceiver(t, receivingOperator, receiverOf(id), shop),
  )
}

/** PHP's own server is told its port in another way than the others, and has no place for a worker. */
function receiverOf(language: string) {
  const program = runtimes[language]?.program(shop, 'receive-webhook') ?? (['false'] as const)
  if (language !== 'php') return { commandOn: () => program }
  const [command, ...args] = program
  return {
    commandOn: (port: number) => [command, '-S', `127.0.0.1:${port}`, ...args] as const,
    workCommand: [command, ...args, 'work'] as const,
  }
}

t.test('the Go programs can lie in one folder', { skip: skipWithout('go', 'golang-go') }, async (t) => {
  const folder = t.testdir()
  cpSync(fileURLToPath(new URL('../snippets/go/', import.meta.url)), folder, { recursive: true })
  t.match(shop.attempt(['sh', '-c', `cd '${folder}' && go build ./...`]), { status: 0, stderr: /matched no packages/ })
})

t.test("the guide's quickstart works when it is pasted", async (t) => {
  const guide = readFileSync(new URL('../../../docs/guide.md', import.meta.url), 'utf8')
  const steps = [...guide.slice(0, guide.indexOf('## Signing')).matchAll(/```bash\n(.*?)```/gs)].map(([, step]) => step)
  t.equal(steps.length, 3)
  const port = String(await freePort())
  const settings = { PORT: port, WEBHOOK_SECRET: 'whsec_own', EVENTS_FOLDER: eventsFolder(t) }
  await startReceiver(t, [process.execPath, snippet('node', 'receive-webhook')], settings)
  const values = {
    '{{baseUrl}}': system.baseUrl,
    'KEY=bk_test_…': `KEY=${key}`,
    'SECRET=sk_…': `SECRET=${secret}`,
    'whsec_…': settings.WEBHOOK_SECRET,
    '127.0.0.1:3000': `127.0.0.1:${port}`,
  }
  const script = Object.entries(values).reduce((text, [placeholder, value]) => {
    t.match(text, placeholder)
    return text.replace(placeholder, value)
  }, steps.join(''))
  const printed = shop.run('sh', ['-c', script])
  t.match(printed, '"isSandbox":true')
  t.match(printed, '"status":"confirmed"')
  t.match(printed, '"available":"150.00"')
  t.match(printed, /^HTTP\/1.1 200 /m)
})
