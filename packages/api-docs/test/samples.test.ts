// proof: a program for each operation in several languages.

import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { httpOperations, operations, sample } from '@backoffice/contracts'
import {
  callersOf,
  freePort,
  newDeposit,
  newPlayer,
  newPlayerOf,
  newWithdrawal,
  OperatorClient,
  richPlayer,
  sharedSystem,
  skipWithout,
} from '@backoffice/test-kit'
import t, { type Test } from 'tap'
import { type SampleLanguage, sampleLanguages, sampleOf, samplePlaceholders } from '../src/index.ts'
import { eventsFolder, startReceiver } from './receivers.ts'
import { snippet } from './runtimes.ts'
import { installClient, type Program, runnerOf } from './sample-runners.ts'
import { newWorkshop } from './workshop.ts'

const baseUrl = 'https://backoffice.example.org/api/v1'
/** The options of this repository, which are the strict ones. */
const strictest = fileURLToPath(new URL('../../../tsconfig.base.json', import.meta.url))
const typeRoots = [fileURLToPath(new URL('../../../node_modules/@types', import.meta.url))]
const compilerOptions = { typeRoots }
const compiler = fileURLToPath(new URL('../../../node_modules/.bin/tsc', import.meta.url))
const occurrences = (text: string, part: string) => text.split(part).length - 1

// Before the first test: tap ends a file that has tests and waits for something else.
const journey = await startJourney()

t.test('a sample has the address, the key and the secret in one place each, and each of its ids', async (t) => {
  for (const { id } of sampleLanguages) {
    for (const { id: operationId, audience, example } of httpOperations) {
      const code = sampleOf(id, operationId, { baseUrl })
      t.equal(occurrences(code, baseUrl), 1, `${id} ${operationId}`)
      for (const placeholder of Object.values(samplePlaceholders))
        t.equal(occurrences(code, placeholder), audience === 'public' ? 0 : 1, `${id} ${operationId}`)
      for (const value of Object.values(example?.params ?? {})) t.equal(occurrences(code, value), 1)
      t.ok(
        code.split('\n').every((line) => line.length <= 125 && line === line.trimEnd()),
        `${id} ${operationId}`,
      )
    }
  }
})

/** An operator of its own, with a player and whatever the operations need, and a server for its webhooks. */
async function startJourney() {
  const system = await sharedSystem(t)
  const team = await system.asTeam('alice')
  const input = { name: `samples ${randomUUID().slice(0, 8)}`, rateLimitPerMinute: 1_000_000 }
  const { operatorId, sandbox } = await team.call(operations.gateway.createOperator, { input })
  const [key, secret] = [sandbox.key, sandbox.secret ?? '']
  const operator = new OperatorClient(system.baseUrl, { key, secret })
  t.teardown(() => operator.close())

  // A process of its own, since this one stands still while a sample runs.
  const port = await freePort()
  const settings = {
    PORT: String(port),
    WEBHOOK_SECRET: sandbox.webhookSecret ?? '',
    EVENTS_FOLDER: eventsFolder(t),
  }
  await startReceiver(t, [process.execPath, snippet('node', 'receive-webhook')], settings)
  const url = `http://127.0.0.1:${port}/`
  await team.call(operations.webhooks.setWebhookUrl, { input: { operatorId, environment: 'sandbox', url } })

  const by = callersOf(operator, team)
  const externalId = randomUUID()
  await by.call(operations.players.registerPlayer, newPlayer({ externalId }))
  const playerId = await richPlayer(by)
  const { data } = (await operator.get('/games')).body
  return {
    baseUrl: system.baseUrl,
    environment: { OPERATOR_KEY: key, OPERATOR_SECRET: secret },
    /** Whether a request was sent under this key: then it takes no other. */
    async isTaken(idempotencyKey: string): Promise<boolean> {
      const { status } = await operator.post(`/players/${playerId}/deposits`, {}, { idempotencyKey })
      return status === 409
    },
    /** What stands in the example of an operation, and what a reader would write there. */
    async realValues(operationId: string): Promise<Readonly<Record<string, string>>> {
      return {
        [sample.playerId]: operationId === 'submitKyc' ? await newPlayerOf(by) : playerId,
        [sample.depositId]: operationId.includes('Deposit') ? await newDeposit(by) : '',
        [sample.withdrawalId]: operationId.includes('Withdrawal') ? await newWithdrawal(by) : '',
        'user-42': operationId === 'findPlayers' ? externalId : randomUUID(),
        'pay-1001': randomUUID(),
        'fortune-reels': data[0].id,
      }
    },
  }
}

async function programOf(language: SampleLanguage, operationId: string): Promise<Program> {
  const real = Object.entries(await journey.realValues(operationId))
  const code = real.reduce(
    (text, [example, value]) => text.replaceAll(example, value),
    sampleOf(language.id, operationId, { baseUrl: journey.baseUrl }),
  )
  return { operationId, filename: language.filename(operationId), code }
}

/** What a program printed: the status, but for the client, which throws unless it is a good one; and the body. */
function replyIn(output: string, language: string) {
  const [, status = '', body = ''] =
    language === 'curl'
      ? (/^HTTP\/1\.1 (\d+).*?\r\n\r\n(.*)$/s.exec(output) ?? [])
      : (/^(\d{3}) (.*)$/s.exec(output) ?? [])
  return status === '' && language === 'client' ? { status: undefined, body: output } : { status: Number(status), body }
}

for (const language of sampleLanguages) {
  const { id, name } = language
  const runner = runnerOf(language)
  const skip = skipWithout(runner.command, runner.debianPackage)
  const statusIs = (t: Test, operationId: string, output = '') => {
    const { status, body } = replyIn(output, id)
    const operation = httpOperations.find((candidate) => candidate.id === operationId)
    t.equal(status ?? operation?.http?.status, operation?.http?.status, operationId, { output: output.slice(0, 500) })
    if (operation?.audience !== 'public') t.doesNotThrow(() => JSON.parse(body), operationId)
    if (operationId === 'testWebhook') t.match(JSON.parse(body), { delivered: true })
  }

  t.test(`${name}: every operation's sample is answered with its status`, { skip }, async (t) => {
    const shop = newWorkshop(t)
    const programs: Program[] = []
    for (const operation of httpOperations) programs.push(await programOf(language, operation.id))
    const printed = runner.all(shop, programs, journey.environment)
    t.equal(printed.size, httpOperations.length)
    for (const [operationId, output] of printed) statusIs(t, operationId, output)
  })

  t.test(
    `${name}: a sample shows that the key is missing, and runs as it is pasted once it is filled in`,
    { skip },
    async (t) => {
      const shop = newWorkshop(t)
      const nameless = await programOf(language, 'getMe')
      // The client throws a refusal.
      if (id === 'client') t.throws(() => runner.asPasted(shop, nameless, {}), /401.*INVALID_CREDENTIALS/s)
      else t.match(runner.asPasted(shop, nameless, {}), /401.*INVALID_CREDENTIALS/s)

      const program = await programOf(language, 'createDeposit')
      const code = program.code
        .replace(samplePlaceholders.key, journey.environment.OPERATOR_KEY)
        .replace(samplePlaceholders.secret, journey.environment.OPERATOR_SECRET)
      const idempotencyKey = randomUUID()
      statusIs(t, program.operationId, runner.asPasted(shop, { ...program, code }, { IDEMPOTENCY_KEY: idempotencyKey }))
      const sent = id === 'curl' ? `create-deposit:${idempotencyKey}` : idempotencyKey
      t.ok(await journey.isTaken(sent), 'the environment can give the key of an earlier run')
    },
  )
}

const curl = sampleLanguages.find(({ id }) => id === 'curl') as SampleLanguage
t.test(
  'curl: the same command again, in the same shell, is a retry',
  { skip: skipWithout('curl', 'curl') },
  async (t) => {
    const shop = newWorkshop(t)
    const { code } = await programOf(curl, 'requestWithdrawal')
    const file = shop.write('request-withdrawal.sh', code)
    // As after a time-out: the shell still has its variables.
    const printed = shop.run('sh', ['-c', `. '${file}'; . '${file}'`], journey.environment)
    const ids = [...printed.matchAll(/"id":"(wdr_\w+)"/g)].map(([, id]) => id)
    t.equal(ids.length, 2)
    t.equal(ids[0], ids[1])
  },
)

t.test('curl: a sample can be pasted into zsh', { skip: skipWithout('zsh', 'zsh') }, async (t) => {
  const shop = newWorkshop(t)
  const { code } = await programOf(curl, 'createDeposit')
  const file = shop.write('create-deposit.sh', code)
  // As typed: then zsh knows no comments.
  t.match(shop.run('sh', ['-c', `zsh -f -i < '${file}'`], journey.environment), /^HTTP\/1.1 201 /m)
})

t.test(
  'Go: the samples have the form that gofmt gives them',
  { skip: skipWithout('gofmt', 'golang-go') },
  async (t) => {
    const shop = newWorkshop(t)
    for (const { id } of httpOperations) shop.write(`${id}.go`, sampleOf('go', id, { baseUrl }))
    t.equal(shop.run('gofmt', ['-l', '.']), '')
  },
)

t.test('TypeScript client: the samples are TypeScript', async (t) => {
  const shop = newWorkshop(t)
  installClient(shop)
  for (const { id } of httpOperations) shop.write(`${id}.mts`, sampleOf('client', id, { baseUrl }))
  shop.write('tsconfig.json', JSON.stringify({ extends: strictest, compilerOptions, include: ['*.mts'] }))
  t.match(shop.attempt([compiler, '--checkers', '1']), { status: 0, stdout: '' })
})
