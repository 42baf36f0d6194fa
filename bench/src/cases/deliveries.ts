import type { Scope } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { Agent, request } from 'undici'
import type { Case, Group, Sample, Setting } from '../case.ts'
import { openEndpoints } from '../fills/endpoints.ts'
import { closedLoop } from '../load/closed-loop.ts'
import { depositEvents, type PublishEvent } from '../load/events.ts'
import type { Work } from '../load/load.ts'
import { connectAs } from '../load/nats-requests.ts'
import { CpuClock, sampleOf } from '../measure.ts'
import type { Options } from '../options.ts'
import { WebhookReceiver } from '../references/webhook-receiver.ts'
import type { Subject } from '../stack/subject.ts'

/** The deliveries that one endpoint may have under way, with enough endpoints to reach the service's own bound. */
const underWayPerEndpoint = 10
const endpoints = 20
const concurrency = endpoints * underWayPerEndpoint
/** Events that are published and not yet delivered: enough that there is always a next one. */
const undelivered = 4 * concurrency

/** Deliveries from the stream to a receiver on this machine, as fast as possible. */
export const deliveries: Group = {
  name: 'deliveries',
  needs: ['plain'],
  takesOpenLoop: false,
  async prepare(setting) {
    const receiver = await WebhookReceiver.start(setting)
    const cases: Case[] = []
    for (const subject of setting.systems.plain) {
      const scopes = await openEndpoints(subject, endpoints, receiver.url)
      const connection = await connectAs(subject.login('payments'))
      setting.ending.defer(() => connection.close())
      const work = deliverEvents({ receiver, publish: depositEvents(connection), scopes })
      cases.push({
        id: 'deliveries',
        title: `webhook deliveries, ${concurrency} under way`,
        column: subject.column,
        shows: 'perSecond',
        measure: () => measureDeliveries(setting.options, subject, work),
      })
    }
    return [...cases, postLoop(setting, receiver)]
  },
}

interface Deliveries {
  readonly receiver: WebhookReceiver
  readonly publish: PublishEvent
  readonly scopes: readonly Scope[]
}

/** Publishes one event for the next endpoint and waits until it has arrived. */
function deliverEvents({ receiver, publish, scopes }: Deliveries): Work {
  let turn = 0
  return async (_client, load) => {
    turn += 1
    const id = newId('evt')
    const arrival = receiver.expect(id)
    await publish(id, scopes[turn % scopes.length] as Scope)
    if ((await arrival) === undefined) load.failed('not delivered in time')
  }
}

async function measureDeliveries(options: Options, { stack }: Subject, work: Work): Promise<Sample> {
  const clock = new CpuClock(() => stack.processes())
  const { warmUpMs, windowMs } = options
  const marks = { opened: () => clock.start(), closed: () => clock.stop() }
  return sampleOf(await closedLoop({ clients: undelivered, warmUpMs, windowMs, ...marks }, work), clock)
}

/** A loop that only posts: the same receiver, a similar body, and as many requests at once. */
function postLoop({ options, ending }: Setting, { url }: WebhookReceiver): Case {
  const agent = new Agent({ connections: concurrency, pipelining: 1 })
  ending.defer(() => agent.close())
  const body = JSON.stringify({ type: 'deposit.confirmed', data: 'x'.repeat(600) })
  const headers = { 'Content-Type': 'application/json', 'X-Webhook-Id': 'evt_reference' }
  return {
    id: 'post-loop',
    title: `undici POST loop, ${concurrency} under way`,
    column: 'reference',
    shows: 'perSecond',
    async measure() {
      const clock = new CpuClock(() => ({}))
      const { warmUpMs, windowMs } = options
      const marks = { opened: () => clock.start(), closed: () => clock.stop() }
      const load = await closedLoop({ clients: concurrency, warmUpMs, windowMs, ...marks }, async (_client, load) => {
        const sentAtMs = performance.now()
        const reply = await request(url, { method: 'POST', dispatcher: agent, headers, body })
        await reply.body.dump()
        if (reply.statusCode === 204) load.replied(sentAtMs)
        else load.failed(`the receiver replied ${reply.statusCode}`)
      })
      return sampleOf(load, clock)
    },
  }
}
