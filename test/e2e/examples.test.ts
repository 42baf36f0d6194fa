// proof: types each command of examples/README.md. client.test.ts runs the first of these programs, and packages/client what
// the listener makes of each delivery.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { operations } from '@backoffice/contracts'
import { eventually, OperatorClient, sharedSystem, temporaryFolder } from '@backoffice/test-kit'
import t, { type Test } from 'tap'
import { BackOfficeClient } from '../../packages/client/src/index.ts'
import { trigger as makeHappen } from '../../packages/client/src/listen/trigger.ts'
import { expectStatus, playerRequest, statementOf } from '../journey.ts'
import { startLossyNetwork } from '../network.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const readme = readFileSync(`${root}examples/README.md`, 'utf8')

const system = await sharedSystem(t)
const team = await system.asTeam('alice')
const folder = temporaryFolder(t)

/** The system's, but for its operator: others send to the demo operator's webhooks meanwhile. */
const stackJson = join(folder, 'stack.json')
const stack = JSON.parse(readFileSync(system.stackJson, 'utf8'))
const created = await team.call(operations.gateway.createOperator, { input: { name: 'Examples' } })
writeFileSync(stackJson, JSON.stringify({ ...stack, operators: [created] }))
const { key, secret } = created.sandbox
const operator = new OperatorClient(system.baseUrl, { key, secret: secret ?? '' })
t.teardown(() => operator.close())
const sandbox = { operatorId: created.operatorId, environment: 'sandbox' } as const

const { setWebhookUrl, showWebhook, disableWebhook, showDelivery, resendDelivery } = operations.webhooks

/** Where the sandbox's deliveries go. */
const endpoint = async () => {
  const { url, enabled } = await team.call(showWebhook, { input: sandbox })
  return { url, enabled }
}

const setUrl = (url: string) => team.call(setWebhookUrl, { input: { ...sandbox, url } })
const test = async () => expectStatus(await operator.post('/webhooks/test'), 200)

interface Example {
  readonly child: ChildProcess
  readonly printed: () => string
  /** What somebody types. */
  readonly press: (keys: string) => void
  /** Ends it, with what npm started for it. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>
}

/** undefined: not set, whatever this process has. */
type Environment = Readonly<Record<string, string | undefined>>

/** The commands that were typed once. */
const typed = new Set<string>()

/** Starts a program with the command that the README gives, and after the first time without npm, which takes longer. */
function start(command: string, environment: Environment, ...args: readonly string[]): Example {
  if (!readme.includes(command)) throw new Error(`examples/README.md does not say: ${command}`)
  const [npm = '', ...words] = command.split(' ')
  if (!typed.has(command)) {
    typed.add(command)
    return launch(npm, [...words, ...args], environment)
  }
  const script = command === 'npm run listen' ? 'packages/client/scripts/listen.ts' : (words.at(-1) ?? '')
  return launch(process.execPath, [script, ...args.filter((arg) => arg !== '--')], environment)
}

function launch(program: string, args: readonly string[], environment: Environment): Example {
  // A process group of its own: npm does not hand every signal on.
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, npm_config_update_notifier: 'false', STACK_JSON: stackJson, ...environment },
    stdio: 'pipe',
    detached: true,
  })
  const closed = once(child, 'close')
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      text += chunk
    })
  }
  return {
    child,
    printed: () => text,
    press: (keys) => void child.stdin.write(keys),
    async stop(signal = 'SIGTERM') {
      const runs = child.exitCode === null && child.signalCode === null
      if (runs && child.pid !== undefined) process.kill(-child.pid, signal)
      await closed
    },
  }
}

/** What is printed reaches us through a pipe, later than the reply to what caused it. */
async function prints({ printed }: Example, pattern: RegExp): Promise<void> {
  await eventually(() => {
    if (!pattern.test(printed())) throw new Error(`${pattern} is not in what is printed:\n${printed()}`)
    return true
  })
}

/** The operator's server for one player, until it ends. */
async function serve(externalId: string, environment: Environment = {}) {
  const { child, printed } = start('npm run example examples/operator-server.ts', environment, externalId)
  const [status] = await once(child, 'close')
  return { status, printed: printed() }
}

/** The webhook receiver, ready, and where it listens. What it knows is in a file of this name. */
async function receive(port: string, name: string): Promise<Example & { readonly url: string }> {
  const environment = { PORT: port, EVENTS_FILE: join(folder, name) }
  const receiver = start('npm run example examples/webhook-receiver.ts', environment)
  t.teardown(() => receiver.stop())
  const url = await eventually(() => /^listening on (.*)$/m.exec(receiver.printed())?.[1] ?? false)
  return { ...receiver, url }
}

const withoutIds = (text: string) => text.replaceAll(/\b(ply|dep|wdr|evt)_\w+/g, '$1_…')

async function playerIdOf(externalId: string): Promise<string> {
  const { data } = expectStatus(await operator.get(`/players?externalId=${externalId}`), 200)
  return data[0].id
}

/** What a player has after one run of the operator's server, however often it was begun. */
async function hasOneOfEach(t: Test, externalId: string) {
  const playerId = await playerIdOf(externalId)
  const wallet = expectStatus(await operator.get(`/players/${playerId}/wallet`), 200)
  t.match(wallet, { available: '110.00', withdrawable: '110.00' })
  t.same(
    (await statementOf(operator, playerId)).map(({ amount }) => amount),
    ['-40.00', '150.00'],
  )
  const kyc = expectStatus(await operator.get(`/players/${playerId}/kyc`), 200)
  t.match(kyc, { kycStatus: 'aprovado', submissions: [{ reference: `${externalId}-rg` }] })
  t.equal(kyc.submissions.length, 1)
}

t.test("the operator's server prints each step, and a second run repeats no effect", async (t) => {
  const first = await serve('ana-1')
  t.match(first, { status: 0 })
  // As the README shows it, identifiers apart.
  const shown = /```\n(player [^`]*)```/.exec(readme)?.[1] ?? ''
  t.equal(withoutIds(first.printed).replace('of Examples,', 'of demo,').slice(-shown.length), shown)
  const second = await serve('ana-1')
  t.equal(second.status, 0)
  t.ok(second.printed !== '' && first.printed.endsWith(second.printed), 'the same records')
  await hasOneOfEach(t, 'ana-1')
})

t.test(
  'lost answers are asked for again, and where none comes the next run finishes under the same keys',
  async (t) => {
    const network = await startLossyNetwork(t, system.baseUrl)
    const throughNetwork = { BASE_URL: network.baseUrl }
    network.lose(2, /deposits HTTP/)
    t.match(await serve('ana-2', throughNetwork), { status: 0 })
    t.equal(network.losses, 0)
    await hasOneOfEach(t, 'ana-2')

    network.lose(Number.POSITIVE_INFINITY, /withdrawals HTTP/)
    t.match(await serve('ana-3', throughNetwork), {
      status: 75,
      printed: /^Not known whether it was done: no answer.* \(key: ana-3:withdrawal-1\)/m,
    })
    network.lose(0)
    network.forbid(1, /withdrawals HTTP/)
    t.match(await serve('ana-3', throughNetwork), {
      status: 75,
      printed: /^Not known whether it was done: 403 UNKNOWN: Forbidden \(key: ana-3:withdrawal-1\)/m,
    })
    t.match(await serve('ana-3', throughNetwork), { status: 0 })
    await hasOneOfEach(t, 'ana-3')
  },
)

t.test('a refusal ends it with the code and the request', async (t) => {
  t.match(await serve('ana-4', { OPERATOR_SECRET: 'sk_wrong' }), {
    status: 1,
    printed: /^Refused: 401 INVALID_SIGNATURE: .* \(request: req_\w+\)$/m,
  })
})

t.test('the receiver prints each event once, and drops what is older than it has', async (t) => {
  const receiver = await receive('0', 'first.db')
  await setUrl(receiver.url)
  t.match(await test(), { delivered: true, responseStatus: 204 })

  t.match(await serve('ana-5'), { status: 0 })
  // An approval that arrives after the payment is dropped at once: order is not promised.
  const heard = (pattern: RegExp) => eventually(() => pattern.exec(receiver.printed())?.[1] ?? false)
  const approved = await heard(/^withdrawal\.status_changed (evt_\w+) .*version 2\b/m)
  const paid = await heard(/^withdrawal\.status_changed (evt_\w+) .*version 3$/m)
  await heard(/^(kyc\.status_changed) /m)
  await heard(/^(deposit\.confirmed) /m)
  const shown = /```\n(kyc[^`]*)\n```/.exec(readme)?.[1]?.split('\n') ?? []
  const printed = withoutIds(receiver.printed()).split('\n')
  t.same(
    shown.filter((line) => !printed.includes(line) && !line.includes('is approved')),
    [],
  )

  const resend = async (id: string) => {
    // The receiver prints an event before its acknowledgement is recorded, which would be that of the resend then.
    const isRecorded = async () => (await team.call(showDelivery, { input: { id } })).state === 'delivered'
    await eventually(isRecorded)
    await team.call(resendDelivery, { input: { id } })
  }
  await resend(paid)
  await prints(receiver, new RegExp(`${paid} dropped, received before`))

  // A receiver that knows neither event hears of the payment first.
  await receiver.stop()
  const next = await receive(new URL(receiver.url).port, 'second.db')
  await resend(paid)
  await eventually(() => /wdr_\w+ is paid, version 3$/m.test(next.printed()))
  await resend(approved)
  await eventually(() => /dropped, version 2 of wdr_\w+ is older than ours$/m.test(next.printed()))

  const forged = { 'X-Webhook-Timestamp': String(Math.floor(Date.now() / 1000)), 'X-Webhook-Signature': '0'.repeat(64) }
  t.equal((await fetch(next.url, { method: 'POST', headers: forged, body: '{}' })).status, 401)
  t.equal((await fetch(next.url, { method: 'POST', body: Buffer.alloc(2_000_000) })).status, 413)
})

t.test('what was acknowledged is worked on after a crash, once; what cannot be kept is not acknowledged', async (t) => {
  const receiver = await receive('0', 'crash.db')
  await setUrl(receiver.url)
  const database = new DatabaseSync(join(folder, 'crash.db'), { timeout: 20_000 })
  t.teardown(() => database.close())
  t.equal(statSync(join(folder, 'crash.db')).mode & 0o077, 0, 'nobody else reads it')
  database.exec(`
    create table effect (id text);
    create trigger effects after insert on record begin insert into effect values (new.id); end;
    create trigger no_work before update on event begin select raise(abort, 'interrupted'); end;
  `)
  const { id } = expectStatus(await operator.post('/players', playerRequest()), 201)
  expectStatus(await operator.post(`/sandbox/players/${id}/kyc/decision`, { status: 'aprovado' }), 200)
  await prints(receiver, /^(evt_\w+) is tried again: .*interrupted$/m)
  const eventId = /^(evt_\w+) is tried again/m.exec(receiver.printed())?.[1] ?? ''
  await eventually(async () => (await team.call(showDelivery, { input: { id: eventId } })).state === 'delivered')
  await receiver.stop('SIGKILL')
  t.same(database.prepare('select id from effect').all(), [], 'nothing of it is done')

  database.exec(`
    drop trigger no_work;
    create trigger no_room before insert on event begin select raise(abort, 'no room'); end;
  `)
  const next = await receive(new URL(receiver.url).port, 'crash.db')
  await prints(next, new RegExp(`^kyc\\.status_changed ${eventId} ${id} is aprovado, version 2$`, 'm'))
  t.match(await test(), { delivered: false, responseStatus: 500 })
  database.exec('drop trigger no_room')
  await team.call(resendDelivery, { input: { id: eventId } })
  await prints(next, new RegExp(`${eventId} dropped, received before`))
  t.same(
    database
      .prepare('select id from effect')
      .all()
      .map((effect) => effect.id),
    [id],
    'done once',
  )
  t.match(database.prepare('select body from event where id = ?').get(eventId), { body: null }, 'and forgotten')
})

/** The listener, once deliveries come to it, and where. */
async function listen(...args: readonly string[]): Promise<Example & { readonly url: string }> {
  const listener = start('npm run listen', {}, '--', ...args)
  t.teardown(() => listener.stop())
  const url = await eventually(() => /sandbox come to (http\S+)\. r /.exec(listener.printed())?.[1] ?? false)
  return { ...listener, url }
}

t.test('listen verifies each delivery, sends it on, and says what the receiver answers', async (t) => {
  const former = 'http://127.0.0.1:9/webhooks'
  await setUrl(former)
  const receiver = await receive('0', 'third.db')
  const listener = await listen('--forward-to', receiver.url, '--body')
  await prints(listener, /They went to http:\S+:9\/webhooks before\./)
  t.same(await endpoint(), { url: listener.url, enabled: true })

  const { eventId, ...outcome } = await test()
  t.match(outcome, { delivered: true, responseStatus: 204 })
  await prints(listener, new RegExp(`webhook\\.test  ${eventId}  verified$`, 'm'))
  await prints(listener, new RegExp(`^ +→ 204  ${eventId}, \\d+ ms$`, 'm'))
  await prints(listener, /^ +"type": "webhook\.test",$/m)
  await prints(receiver, new RegExp(`webhook\\.test ${eventId} nothing to do`))

  listener.press('r')
  await prints(receiver, new RegExp(`${eventId} dropped, received before`))
  await prints(listener, new RegExp(`${eventId}  verified  again$`, 'm'))

  await team.call(disableWebhook, { input: { ...sandbox, reason: 'test' } })
  await listener.stop()
  t.match(listener.printed(), `They go to ${former}, which is disabled, again.\n`)
  t.same(await endpoint(), { url: former, enabled: false }, 'what somebody has disabled stays so')
})

async function trigger(type: string): Promise<void> {
  const triggered = start('npm run listen', {}, '--', 'trigger', type)
  await once(triggered.child, 'close')
  if (!new RegExp(`^${type} of \\w+$`, 'm').test(triggered.printed())) throw new Error(triggered.printed())
}

t.test('trigger makes each event happen', async (t) => {
  const listener = await listen()
  for (const type of ['kyc.status_changed', 'webhook.test', 'deposit.confirmed', 'withdrawal.status_changed']) {
    await trigger(type)
    await prints(listener, new RegExp(`${type}  evt_\\w+  verified`))
  }
  const { key = '', secret } = created.production ?? {}
  const production = new BackOfficeClient({ baseUrl: system.baseUrl, key, secret: secret ?? '' })
  const settings = { client: () => production, secrets: () => [], forwardTo: undefined }
  await t.rejects(makeHappen({ ...settings, type: 'deposit.confirmed' }), /works in the sandbox only/)
  await t.rejects(makeHappen({ ...settings, type: 'play.day_closed' }), /no call of yours causes play\.day_closed/)
  await listener.stop()
})

t.test(
  'what somebody has changed meanwhile stays, and what was there is put back when nobody reads any more',
  async (t) => {
    const [former, changed] = ['http://127.0.0.1:9/former', 'http://127.0.0.1:9/changed-meanwhile']
    await setUrl(former)
    const listener = await listen()
    await setUrl(changed)
    await listener.stop()
    t.match(listener.printed(), `They go to ${changed}: somebody has changed it meanwhile.`)
    t.same(await endpoint(), { url: changed, enabled: true })

    // Its output ends with `head`, which it hears of when it has something to say.
    const cut = launch('sh', ['-c', 'node packages/client/scripts/listen.ts | head -1'], {})
    t.teardown(() => cut.stop())
    await prints(cut, /sandbox come to/)
    await test()
    await eventually(async () => (await endpoint()).url === changed)
  },
)
