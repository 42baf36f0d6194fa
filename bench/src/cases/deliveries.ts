import type { Scope } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import pg from 'pg'
import { Agent, request } from 'undici'
import type { Case, Group, Sample, Setting } from '../case.ts'
import { latencyFigures } from '../figures.ts'
import { openEndpoints } from '../fills.ts'
import { steadyRate, type Work } from '../load/load.ts'
import { connectAs, depositEvents, type PublishEvent } from '../load/nats-requests.ts'
import { loadCase, measureLoad } from '../measure.ts'
import { clockMs, WebhookReceiver } from '../references/webhook-receiver.ts'
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
  async prepare(setting) {
    const receiver = await WebhookReceiver.start(setting)
    const cases: Case[] = []
    for (const subject of setting.systems.plain) {
      const scopes = await openEndpoints(subject, endpoints, receiver.url)
      const connection = await connectAs(subject.login('payments'))
      setting.ending.defer(() => connection.close())
      const work = deliverEvents({ receiver, publish: depositEvents(connection), scopes })
      const title = `webhook deliveries, ${concurrency} under way`
      cases.push(loadCase(setting, subject, { id: 'deliveries', title, clients: undelivered }, work))
    }
    return [...cases, await postLoop(setting, receiver)]
  },
}

interface Deliveries {
  readonly receiver: WebhookReceiver
  readonly publish: PublishEvent
  readonly scopes: readonly Scope[]
  /** Milliseconds from an event's publication to its arrival. */
  readonly arrived?: (latencyMs: number) => void
}

/** Publishes one event for the next endpoint and waits until it has arrived. */
function deliverEvents({ receiver, publish, scopes, arrived }: Deliveries): Work {
  let turn = 0
  return async (_client, load) => {
    turn += 1
    const id = newId('evt')
    const publishedAtMs = clockMs()
    const arrival = receiver.expect(id)
    await publish(id, scopes[turn % scopes.length] as Scope)
    const atMs = await arrival
    if (atMs === undefined) load.failed('not delivered in time')
    else arrived?.(atMs - publishedAtMs)
  }
}

const loopConnections = 32

/**
 * What a program without a queue of its own would do: the same receiver, a similar body and as many requests at once, with
 * a row that is committed before each and changed after it, on the PostgreSQL of the first measured system.
 */
async function postLoop({ options, ending, systems: { plain } }: Setting, { url }: WebhookReceiver): Promise<Case> {
  const [subject] = plain
  if (subject === undefined) throw new Error('there is no system to hold anything against')
  const agent = new Agent({ connections: concurrency, pipelining: 1 })
  ending.defer(() => agent.close())
  const rows = new pg.Pool({ connectionString: subject.stack.description.postgresUrl, max: loopConnections })
  ending.defer(() => rows.end())
  await rows.query(
    'create table bench_post (id text primary key, body text not null, status integer, ended_at timestamptz)',
  )
  ending.defer(async () => void (await rows.query('drop table bench_post')))
  const body = JSON.stringify({ type: 'deposit.confirmed', data: 'x'.repeat(600) })
  const processes = () => ({ postgres: subject.stack.processes().postgres ?? 0 })
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

/** Well below what the service can send, so that no queue is measured. */
const eventsPerSecond = 60
/** Longer than other windows, because a p99 needs enough events. */
const windowsLong = 3
/** More than the silent endpoint may have under way, so that further deliveries wait behind them. */
const silentEvents = 60

/** How long an event takes to reach endpoints that reply, with and without an endpoint that never does. */
export const blackHole: Group = {
  name: 'black-hole',
  needs: ['plain'],
  async prepare(setting) {
    const receiver = await WebhookReceiver.start(setting)
    const cases = []
    for (const subject of setting.systems.plain) {
      const neighbours = await openEndpoints(subject, setting.options.neighbours, receiver.url)
      const [silent] = await openEndpoints(subject, 1, receiver.blackHoleUrl)
      const connection = await connectAs(subject.login('payments'))
      setting.ending.defer(() => connection.close())
      const street = { setting, subject, receiver, publish: depositEvents(connection), neighbours }
      for (const beside of [false, true]) {
        cases.push({
          id: beside ? 'beside-black-hole' : 'without-black-hole',
          title: `event to socket of ${neighbours.length} endpoints ${beside ? 'beside a black hole' : 'without it'}`,
          column: subject.column,
          shows: 'p99Ms',
          measure: () => (beside ? besideBlackHole(street, silent as Scope) : measureEvents(street)),
        })
      }
    }
    return cases
  },
}

interface Street {
  readonly setting: Setting
  readonly subject: Subject
  readonly receiver: WebhookReceiver
  readonly publish: PublishEvent
  readonly neighbours: readonly Scope[]
}

/** The endpoint is enabled anew each time, because its breaker opens after a few failures. */
async function besideBlackHole(street: Street, silent: Scope): Promise<Sample> {
  const { team } = street.subject
  await team.setWebhookUrl(silent, street.receiver.blackHoleUrl)
  try {
    await Promise.all(Array.from({ length: silentEvents }, () => street.publish(newId('evt'), silent)))
    return await measureEvents(street)
  } finally {
    // Its waiting deliveries are withheld, so that the next measurement begins without a backlog.
    await team.disableWebhook(silent)
  }
}

/** Events at a steady rate, to each endpoint that replies in turn. */
async function measureEvents({ setting, receiver, publish, neighbours }: Street): Promise<Sample> {
  const latenciesMs: number[] = []
  const arrived = (latencyMs: number) => latenciesMs.push(latencyMs)
  const work = deliverEvents({ receiver, publish, scopes: neighbours, arrived })
  const windowMs = setting.options.windowMs * windowsLong
  const load = await steadyRate({ perSecond: eventsPerSecond, windowMs }, work)
  return {
    figures: { ...latencyFigures(latenciesMs), events: latenciesMs.length },
    failures: Object.fromEntries(load.failures),
  }
}
