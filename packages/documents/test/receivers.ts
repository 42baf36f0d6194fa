import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { operations, signWebhook } from '@backoffice/contracts'
import { eventually, lastingPort, OperatorClient, type SharedSystem, type Teardown } from '@backoffice/test-kit'
import type { Test } from 'tap'
import { type Command, programEnvironment, type Workshop } from './workshop.ts'

/** Compilers and virtual machines are slow to start on a busy machine. */
const patienceMs = 60_000

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

/** Starts the program and waits until it listens. It ends with `t`. */
export async function startReceiver(t: Teardown, [command, ...args]: Command, env: Record<string, string>) {
  const child = spawn(command, args, { env: programEnvironment(env), stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(child, 'close')
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await closed
  })
  const printed = (pattern: RegExp) =>
    eventually(() => {
      if (child.exitCode !== null) throw new Error(`the receiver ended:\n${text}`)
      return pattern.test(text)
    }, patienceMs)
  await printed(/listening on|Development Server .* started/)
  return { printed, text: () => text }
}

/** What every receiver must do, whatever its language. */
export async function checkReceiver(
  t: Test,
  operator: ReceivingOperator,
  commandOn: (port: number) => Command,
  shop: Workshop,
): Promise<void> {
  const port = await lastingPort()
  const env = { WEBHOOK_SECRET: operator.webhookSecret, PORT: String(port), TMPDIR: shop.folder }
  const receiver = await startReceiver(t, commandOn(port), env)
  const url = `http://127.0.0.1:${port}/webhooks`

  const sent = await operator.testDelivery(url)
  t.match(sent, { delivered: true, responseStatus: 200 }, 'what the system sends is accepted')
  await receiver.printed(new RegExp(`received .*${sent.eventId}`))

  const now = Math.floor(Date.now() / 1000)
  const body = JSON.stringify({
    id: `evt_${randomUUID().replaceAll('-', '')}`,
    type: 'webhook.test',
    data: { name: 'João' },
  })
  const post = async (timestamp: number | string, change: { signature?: string; body?: string } = {}) => {
    const signature = signWebhook(operator.webhookSecret, { timestamp: String(timestamp), body })
    const headers = { 'X-Webhook-Timestamp': String(timestamp), 'X-Webhook-Signature': signature }
    if (change.signature !== undefined) headers['X-Webhook-Signature'] = change.signature
    const reply = await fetch(url, { method: 'POST', headers, body: change.body ?? body })
    return reply.status
  }
  t.equal(await post(now, { signature: '0'.repeat(64) }), 401, 'a wrong signature')
  t.equal(await post(now, { signature: 'x' }), 401, 'no signature at all')
  t.equal(await post(now, { body: `${body} ` }), 401, 'a changed body')
  t.equal(await post(now - 3600), 401, 'too old')
  t.equal(await post(now + 3600), 401, 'too new')
  t.equal(await post(`${now}.0`), 401, 'a timestamp in another form')
  t.equal((await fetch(url, { method: 'POST', body })).status, 401, 'no headers')
  const tooLarge = await post(now, { body: 'x'.repeat(1_048_577) }).catch(() => 'cut off')
  t.ok([413, 'cut off'].includes(tooLarge), 'a body that is too large')
  t.notMatch(receiver.text(), /received .*João/)

  t.equal(await post(now), 200, 'none of that has used up the id')
  t.equal(await post(now - 200), 200, 'sent again, with another timestamp')
  await receiver.printed(/ignored evt_\w+: received before/)
}
