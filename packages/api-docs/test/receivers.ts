import { randomUUID } from 'node:crypto'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { operations, signWebhook } from '@backoffice/contracts'
import { freePort, OperatorClient, type SharedSystem, startProcess, type Teardown } from '@backoffice/test-kit'
import type { Test } from 'tap'
import { type Command, programEnvironment, type Workshop } from './workshop.ts'

/** An operator of its own, whose webhooks go to the program that is being tried. */
export async function startReceivingOperator(t: Teardown, system: SharedSystem) {
  const team = await system.asTeam('alice')
  const input = { name: `receiver ${randomUUID().slice(0, 8)}` }
  const { operatorId, sandbox } = await team.call(operations.gateway.createOperator, { input })
  const { key, secret, webhookSecret } = sandbox
  if (secret === null || webhookSecret === null) throw new Error('a new operator has secrets')
  const client = new OperatorClient(system.baseUrl, { key, secret })
  t.teardown(() => client.close())
  return {
    webhookSecret,
    /** Has the system send a test event to this URL, and tells what it heard. */
    async testDelivery(url: string) {
      await team.call(operations.webhooks.setWebhookUrl, { input: { operatorId, environment: 'sandbox', url } })
      return (await client.post('/webhooks/test')).body
    },
  }
}
type ReceivingOperator = Awaited<ReturnType<typeof startReceivingOperator>>

/** A folder where a receiver keeps its events. */
export function eventsFolder(t: Teardown): string {
  const folder = mkdtempSync(join(tmpdir(), 'webhook-events-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

interface ReceiverSettings extends Readonly<Record<string, string>> {
  readonly PORT: string
  readonly WEBHOOK_SECRET: string
  readonly EVENTS_FOLDER: string
}

/** Starts the program and waits until it listens. It ends with `t`. */
export async function startReceiver(t: Teardown, command: Command, settings: ReceiverSettings) {
  const { until, printed } = startProcess(t, command, { env: programEnvironment(settings) })
  await until(() => /listening on|Development Server .* started/.test(printed()))
  return { printed: (pattern: RegExp) => until(() => pattern.test(printed())), text: printed }
}

interface ReceiverProgram {
  readonly commandOn: (port: number) => Command
  /** The worker, where it is a command of its own. */
  readonly workCommand?: Command
}

/** What every receiver must do, whatever its language. */
export async function checkReceiver(
  t: Test,
  operator: ReceivingOperator,
  { commandOn, workCommand }: ReceiverProgram,
  shop: Workshop,
): Promise<void> {
  const port = await freePort()
  const folder = eventsFolder(t)
  const newId = () => `evt_${randomUUID().replaceAll('-', '')}`
  // What a receiver that was killed leaves: an event that was acknowledged, and one that was worked on.
  const personal = { name: 'João', destination: 'joao@example.com' }
  const bodyOf = (id: string) => JSON.stringify({ id, type: 'webhook.test', data: personal })
  const [left, finished] = [newId(), newId()]
  writeFileSync(join(folder, `${left}.waiting`), bodyOf(left))
  writeFileSync(join(folder, `${finished}.done`), bodyOf(finished))

  const settings = { WEBHOOK_SECRET: operator.webhookSecret, PORT: String(port), EVENTS_FOLDER: folder }
  const receiver = await startReceiver(t, commandOn(port), settings)
  const worksOn = async (id: string) => {
    const pattern = new RegExp(`worked on webhook\\.test ${id}`)
    if (workCommand === undefined) await receiver.printed(pattern)
    else t.match(shop.run(workCommand[0], workCommand.slice(1), settings), pattern)
  }
  await worksOn(left)
  const url = `http://127.0.0.1:${port}/webhooks`

  const sent = await operator.testDelivery(url)
  t.match(sent, { delivered: true, responseStatus: 200 }, 'what the system sends is accepted')
  await receiver.printed(new RegExp(`received webhook\\.test ${sent.eventId}`))
  await worksOn(sent.eventId)

  const now = Math.floor(Date.now() / 1000)
  const id = newId()
  const body = bodyOf(id)
  const post = async (
    timestamp: number | string,
    change: { signature?: string; body?: string; signed?: string } = {},
  ) => {
    const signed = change.signed ?? body
    const headers = {
      // It is not signed: whoever repeats a delivery can write anything here.
      'X-Webhook-Id': newId(),
      'X-Webhook-Timestamp': String(timestamp),
      'X-Webhook-Signature':
        change.signature ?? signWebhook(operator.webhookSecret, { timestamp: String(timestamp), body: signed }),
    }
    const reply = await fetch(url, { method: 'POST', headers, body: change.body ?? signed })
    return reply.status
  }
  const refused: readonly (readonly [what: string, reply: Promise<number>])[] = [
    ['a wrong signature', post(now, { signature: '0'.repeat(64) })],
    ['no signature at all', post(now, { signature: 'x' })],
    ['a changed body', post(now, { body: `${body} ` })],
    ['too old', post(now - 3600)],
    ['too new', post(now + 3600)],
    ['a timestamp in another form', post(`${now}.0`)],
    ['no headers', fetch(url, { method: 'POST', body }).then(({ status }) => status)],
  ]
  for (const [what, reply] of refused) t.equal(await reply, 401, what)
  const tooLarge = await post(now, { body: 'x'.repeat(1_048_577) }).catch(() => 'cut off')
  t.ok([413, 'cut off'].includes(tooLarge), 'a body that is too large')
  t.notMatch(receiver.text(), id)

  // A file stands where the folder was, so nothing can be kept.
  renameSync(folder, `${folder}-away`)
  writeFileSync(folder, '')
  t.equal(await post(now), 500, 'what cannot be kept is not acknowledged')
  rmSync(folder)
  renameSync(`${folder}-away`, folder)

  t.equal(await post(now), 200, 'none of that has used up the id')
  await receiver.printed(new RegExp(`received webhook\\.test ${id}`))
  await worksOn(id)
  t.equal(await post(now - 200), 200, 'sent again, with another timestamp and another header')
  await receiver.printed(new RegExp(`ignored ${id}: received before`))
  t.equal(await post(now, { signed: bodyOf(finished) }), 200, 'sent again after a restart')
  await receiver.printed(new RegExp(`ignored ${finished}: received before`))
  t.notMatch(receiver.text(), /João|joao@/, 'no data of a player is printed')
}
