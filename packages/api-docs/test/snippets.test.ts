// proof: eight languages, some with a compiler.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { operations } from '@backoffice/contracts'
import {
  eventually,
  freePort,
  newPlayer,
  OperatorClient,
  seenWithdrawal,
  sharedSystem,
  skipWithout,
  startReceiver as startReceiverOf,
} from '@backoffice/test-kit'
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

/** As the guides name them. */
const operatorsAddress = 'http://127.0.0.1:8080/api/v1'
const providersAddress = 'http://127.0.0.1:8083/provider/v1'

t.test("the guide's quickstart works when it is pasted", async (t) => {
  const guide = readFileSync(new URL('../../../docs/guide.md', import.meta.url), 'utf8')
  const steps = [...guide.slice(0, guide.indexOf('## Signing')).matchAll(/```bash\n(.*?)```/gs)].map(([, step]) => step)
  t.equal(steps.length, 3)
  const port = String(await freePort())
  const settings = { PORT: port, WEBHOOK_SECRET: 'whsec_own', EVENTS_FOLDER: eventsFolder(t) }
  await startReceiver(t, [process.execPath, snippet('node', 'receive-webhook')], settings)
  const values = {
    [operatorsAddress]: system.baseUrl,
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

t.test('the README leads to a withdrawal that the team pays, when it is pasted', async (t) => {
  const root = fileURLToPath(new URL('../../../', import.meta.url))
  const readme = readFileSync(`${root}README.md`, 'utf8')
  const [calls = '', after = ''] = [...readme.matchAll(/```sh\n(.*?)```/gs)].map(([, step = '']) => step)
  const team = await system.asTeam('alice')
  const input = { name: 'Readme', rateLimitPerMinute: 1_000 }
  const { operatorId, sandbox } = await team.call(operations.gateway.createOperator, { input })
  const { url, received } = await startReceiverOf(t)
  await team.call(operations.webhooks.setWebhookUrl, { input: { operatorId, environment: 'sandbox', url } })
  const stack = shop.write('stack.json', JSON.stringify({ baseUrl: system.baseUrl, operators: [{ sandbox }] }))
  t.match(calls, './.stack/stack.json')
  const script = `cd '${root}'\n${calls.replace('./.stack/stack.json', stack)}`
  const printed = await shop.runBeside('sh', ['-c', `${script}\necho "PLAYER=$PLAYER WITHDRAWAL=$WITHDRAWAL"`])
  t.match(printed, '"isSandbox":true')
  t.match(printed, '"kycStatus":"aprovado"')
  t.match(printed, '"status":"confirmed"')
  t.match(printed, '"delivered":true')
  const [values = '', withdrawalId = ''] = /^PLAYER=ply_\w+ WITHDRAWAL=(wdr_\w+)$/m.exec(printed) ?? []
  for (const decision of ['approve', 'pay'] as const) {
    const seen = await seenWithdrawal(team, withdrawalId)
    await team.call(operations.payments.decideWithdrawal, {
      input: { ...seen, decision, reason: 'as the README says' },
    })
  }
  const [functions = ''] = script.split('\napi GET /me')
  const paid = await shop.runBeside('sh', ['-c', `${functions}\n${values}\n${after}`])
  t.match(paid, '"status":"paid"')
  t.match(paid, '"available":"110.00"')
  const types = () =>
    received.map(({ body }) => JSON.parse(body)).map(({ type, data }) => `${type} ${data.status ?? ''}`)
  await eventually(() => types().includes('withdrawal.status_changed paid'))
  t.ok(types().includes('withdrawal.status_changed approved'))
})

/** Debian has none, so it is tested where there is one. */
const pwsh = shop.attempt(['pwsh', '-Version']).status === 0 ? false : 'pwsh is missing'
t.test("the guide's function for Windows works in PowerShell", { skip: pwsh }, async (t) => {
  const guide = readFileSync(new URL('../../../docs/guide.md', import.meta.url), 'utf8')
  const [, step = ''] = /```powershell\n(.*?)```/s.exec(guide) ?? []
  const filled = step.replace(operatorsAddress, system.baseUrl).replace('bk_test_…', key).replace('sk_…', secret)
  const body = JSON.stringify(newPlayer({ name: 'João' }))
  const printed = shop.run('pwsh', ['-NoProfile', '-Command', `${filled}\n(api POST /players '${body}').name`])
  t.match(printed, 'João')
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
      [`${providersAddress}/brd_…`]: `${system.providerUrl}/${brandId}`,
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
