import { eventSubject, type Scope } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { depositConfirmed } from '@backoffice/test-kit'
import { type JetStreamClient, jetstream } from '@nats-io/jetstream'
import pg from 'pg'
import { Agent, request } from 'undici'
import type { Case, Group, Setting } from '../case.ts'
import type { Work } from '../load/load.ts'
import { loadCase, measureLoad } from '../measure.ts'
import { WebhookReceiver } from '../references/webhook-receiver.ts'

/** The deliveries that one endpoint may have under way, with enough endpoints to reach the service's own bound. */
const underWayPerEndpoint = 10
const endpoints = 20
const concurrency = endpoints * underWayPerEndpoint
/** Events that are published and not yet delivered: enough that there is always a next one. */
const undelivered = 4 * concurrency

/** Deliveries from the stream to a receiver on this machine, as fast as possible. */
export const deliveries: Group = {
  name: 'deliveries',
  async prepare(setting) {
    const receiver = await WebhookReceiver.start(setting)
    const cases: Case[] = []
    for (const subject of setting.systems) {
      const scopes: Scope[] = []
      for (let count = 0; count < endpoints; count += 1) scopes.push(await subject.newEndpoint(receiver.url))
      const work = deliverEvents({ receiver, stream: jetstream(await subject.nats('payments')), scopes })
      const title = `webhook deliveries, ${concurrency} under way`
      cases.push(loadCase(setting, subject, { id: 'deliveries', title, clients: undelivered }, work))
    }
    return [...cases, await postLoop(setting, receiver)]
  },
}

interface Deliveries {
  readonly receiver: WebhookReceiver
  readonly stream: JetStreamClient
  readonly scopes: readonly Scope[]
}

/** Publishes one event for the next endpoint, as payments does, and waits until it has arrived. */
function deliverEvents({ receiver, stream, scopes }: Deliveries): Work {
  let turn = 0
  return async (_client, load) => {
    turn += 1
    const event = depositConfirmed(scopes[turn % scopes.length] as Scope)
    const arrival = receiver.expect(event.id)
    await stream.publish(eventSubject(event.type), JSON.stringify(event), { msgID: event.id })
    if (!(await arrival)) load.failed('not delivered in time')
  }
}

const loopConnections = 32

/**
 * What a program without a queue of its own would do: the same receiver, a similar body and as many requests at once, with
 * a row that is committed before each and changed after it, on the PostgreSQL of the first measured system.
 */
async function postLoop({ options, ending, systems }: Setting, { url }: WebhookReceiver): Promise<Case> {
  const [subject] = systems
  if (subject === undefined) throw new Error('there is no system to hold anything against')
  const agent = new Agent({ connections: concurrency, pipelining: 1 })
  ending.defer(() => agent.close())
  const rows = new pg.Pool({ connectionString: subject.postgresUrl, max: loopConnections })
  ending.defer(() => rows.end())
  await rows.query(
    'create table bench_post (id text primary key, body text not null, status integer, ended_at timestamptz)',
  )
  ending.defer(async () => void (await rows.query('drop table bench_post')))
  const body = JSON.stringify({ type: 'deposit.confirmed', data: 'x'.repeat(600) })
  const processes = () => ({ postgres: subject.processes().postgres ?? 0 })
  return {
    id: 'post-loop',
    title: `undici loop, a row before and after each POST, ${concurrency} under way`,
    column: 'reference',
    shows: 'perSecond',
    measure: () =>
      measureLoad({ options, clients: concurrency, processes }, async (_client, load) => {
        const id = newId('evt')
        await rows.query({
          name: 'before',
          text: 'insert into bench_post (id, body) values ($1, $2)',
          values: [id, body],
        })
        const sentAtMs = performance.now()
        const headers = { 'Content-Type': 'application/json', 'X-Webhook-Id': id }
        const reply = await request(url, { method: 'POST', dispatcher: agent, headers, body })
        await reply.body.dump()
        if (reply.statusCode === 204) load.replied(sentAtMs)
        else load.failed(`the receiver replied ${reply.statusCode}`)
        const text = 'update bench_post set status = $2, ended_at = now() where id = $1'
        await rows.query({ name: 'after', text, values: [id, reply.statusCode] })
      }),
  }
}
