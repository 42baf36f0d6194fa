import { buffer } from 'node:stream/consumers'
import { verifyWebhook } from '@backoffice/client'
import { operations } from '@backoffice/contracts'
import { eventually, type System, serveHttp } from '@backoffice/test-kit'
import type { Test } from 'tap'
import { createDeposit, demoOperator, expectStatus, fund, register } from '../journey.ts'

/** NATS and PostgreSQL die in it. Its first retry of a delivery comes after 200 ms. */
export async function webhookTests(t: Test, system: System): Promise<void> {
  const operator = demoOperator(system)
  t.teardown(() => operator.close())
  const secret = system.operators[0]?.sandbox.webhookSecret ?? ''

  /** Events as the operator's server takes them: verified with the published client. */
  const received: ReturnType<typeof verifyWebhook>[] = []
  let answer = 204
  const url = await serveHttp(t, async (request, response) => {
    received.push(verifyWebhook({ secret, headers: request.headers, rawBody: await buffer(request) }))
    response.writeHead(answer).end()
  })
  const { setWebhookUrl, showDelivery, resendDelivery } = operations.webhooks
  const alice = await system.asTeam('alice')
  const { id: operatorId } = await alice.call(operations.gateway.getOperator, { input: { name: 'demo' } })
  const confirmed = (depositId: string) =>
    received.filter(({ type, data }) => type === 'deposit.confirmed' && (data as { id: string }).id === depositId)

  t.test('before a URL is set a test delivery is refused with WEBHOOK_NOT_CONFIGURED', async (t) => {
    const refused = await operator.post('/webhooks/test')
    t.match(refused, { status: 409, body: { error: { code: 'WEBHOOK_NOT_CONFIGURED' } } })
  })

  t.test('the team sets the URL, and a test delivery says what the receiver answered', async (t) => {
    const input = { operatorId, environment: 'sandbox', url } as const
    t.match(await alice.call(setWebhookUrl, { input }), { url, enabled: true })
    const tested = expectStatus(await operator.post('/webhooks/test'), 200)
    t.match(tested, { delivered: true, responseStatus: 204, error: null })
    t.match(received.at(-1), { id: tested.eventId, type: 'webhook.test' })
  })

  t.test('a failing receiver is tried again, and the team sees the story and resends', async (t) => {
    answer = 500
    const { id: playerId } = await register(operator)
    const deposit = await createDeposit(operator, playerId)
    expectStatus(await operator.post(`/deposits/${deposit.id}/confirm`), 200)
    await eventually(() => confirmed(deposit.id).length >= 2)
    answer = 204
    const eventId = confirmed(deposit.id)[0]?.id ?? ''
    const shown = await eventually(async () => {
      const shown = await alice.call(showDelivery, { input: { id: eventId } })
      return shown.state === 'delivered' && shown
    }, 20_000)
    t.match(shown.attemptLog[0], { number: 1, responseStatus: 500, error: 'The receiver answered 500.' })
    t.match(shown.outcome, /^Delivered on attempt \d/)
    const before = confirmed(deposit.id).length
    await alice.call(resendDelivery, { input: { id: eventId } })
    await eventually(() => confirmed(deposit.id).length > before)
  })

  t.test('NATS dies and loses the whole stream before anybody read it: the outboxes bring every event', async (t) => {
    const { id: playerId } = await register(operator)
    const deposit = await createDeposit(operator, playerId)
    // It takes longer to start again than the next lines: nobody hears the event before the stream is gone.
    process.kill(system.pid('webhooks'), 'SIGKILL')
    expectStatus(await operator.post(`/deposits/${deposit.id}/confirm`), 200)
    await system.crash('nats')
    await eventually(() => confirmed(deposit.id).length === 1, 30_000)
    t.equal(new Set(confirmed(deposit.id).map(({ id }) => id)).size, 1)
  })

  t.test('PostgreSQL dies in between: events go on arriving, once each', async (t) => {
    const { id: playerId } = await register(operator)
    await system.crash('postgres')
    const before = received.length
    await eventually(async () => {
      await fund(operator, playerId, '10.00')
      return true
    }, 30_000)
    await eventually(() => received.slice(before).some(({ type }) => type === 'deposit.confirmed'), 20_000)
    const ids = received.slice(before).map(({ id }) => id)
    t.equal(new Set(ids).size, ids.length)
  })
}
