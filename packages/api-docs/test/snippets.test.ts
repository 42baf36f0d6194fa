// proof: eight languages, some with a compiler.

import { readFileSync } from 'node:fs'
import { freePort, newPlayer, OperatorClient, sharedSystem, skipWithout } from '@backoffice/test-kit'
import t from 'tap'
import { languages, providerSnippet } from '../src/index.ts'
import { checkReceiver, eventsFolder, startReceiver, startReceivingOperator } from './receivers.ts'
import { runtimes, snippet } from './runtimes.ts'
import { newWorkshop, writeVectors } from './workshop.ts'

const shop = newWorkshop(t)
const vectors = writeVectors(shop)
const system = await sharedSystem(t)
const { key, secret } = system.operators[0]?.sandbox ?? { key: '', secret: '' }
const environment = { BASE_URL: system.baseUrl, OPERATOR_KEY: key, OPERATOR_SECRET: secret }
const receivingOperator = await startReceivingOperator(t, system)

t.test('every language has a runtime to be tested with, and three have a receiver', async (t) => {
  t.strictSame(Object.keys(runtimes).sort(), languages.map(({ id }) => id).sort())
  const receivers = languages.filter(({ files }) => files['receive-webhook'] !== undefined)
  t.strictSame(
    receivers.map(({ id }) => id),
    ['node', 'python', 'php'],
  )
})

for (const { id, name, files } of languages) {
  const runtime = runtimes[id]
  if (runtime === undefined) continue
  const skip = skipWithout(runtime.command, runtime.debianPackage)

  t.test(`${name}: the snippets agree with every vector`, { skip }, async (t) => {
    const [command, ...args] = runtime.vectors(shop, vectors)
    t.equal(shop.run(command, args).match(/verified (\d+)/)?.[1], String(vectors.count))
  })

  t.test(`${name}: the program is accepted by the running gateway`, { skip }, async (t) => {
    const [command, ...args] = runtime.program(shop, 'sign-request')
    const player = JSON.stringify(newPlayer({ externalId: `snippet-${id}`, name: 'João' }))
    const printed = shop.run(command, [...args, 'POST', '/players', player, `snippet-${id}-1`], environment)
    t.match(printed, `"externalId":"snippet-${id}"`)
    t.match(printed, '"João"')
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

t.test(
  "the providers' quickstart works when it is pasted, and so does the shell's program with its own names",
  async (t) => {
    const { brandId, gameId, ...pair } = system.provider
    const operator = new OperatorClient(system.baseUrl, { key, secret })
    t.teardown(() => operator.close())
    const { id: playerId } = (await operator.post('/players', newPlayer())).body
    await operator.post(`/sandbox/players/${playerId}/kyc/decision`, { status: 'aprovado' })
    const deposit = { amount: '150.00', currency: 'BRL', method: 'pix', externalReference: playerId }
    const { id: depositId } = (await operator.post(`/players/${playerId}/deposits`, deposit)).body
    await operator.post(`/deposits/${depositId}/confirm`)
    const { id: sessionId } = (await operator.post(`/players/${playerId}/game-sessions`, { gameId })).body

    const guide = readFileSync(new URL('../../../docs/providers.md', import.meta.url), 'utf8')
    const [, step = ''] = /```bash\n(.*?)```/s.exec(guide) ?? []
    const values = {
      '{{baseUrl}}/{{brandId}}': `${system.providerUrl}/${brandId}`,
      'KEY=gp_test_…': `KEY=${pair.key}`,
      'SECRET=sk_…': `SECRET=${pair.secret}`,
      'PLAYER=ply_…': `PLAYER=${playerId}`,
      'SESSION=ses_…': `SESSION=${sessionId}`,
      'wallet-reels': gameId,
    }
    const script = Object.entries(values).reduce((text, [placeholder, value]) => {
      t.match(text, placeholder)
      return text.replaceAll(placeholder, value)
    }, step)
    const [session, bet, win] = shop
      .run('sh', ['-c', script])
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    t.match(session, { playerId, balance: '150.00', state: 'open' })
    t.match(bet, { applied: true, replayed: false, balance: '148.00' })
    t.match(win, { roundState: 'closed', balance: '153.00' })
    const again = shop
      .run('sh', ['-c', script])
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    t.match(again, [{ balance: '153.00' }, { id: bet.id, replayed: true }, { id: win.id, replayed: true }])

    const file = shop.write('sign-request-of-a-provider.sh', providerSnippet('bash'))
    const environment = {
      BASE_URL: `${system.providerUrl}/${brandId}`,
      PROVIDER_KEY: pair.key,
      PROVIDER_SECRET: pair.secret,
    }
    t.match(shop.run('bash', [file, 'GET', '/rounds?roundId=round-1'], environment), '"state":"closed"')
  },
)
