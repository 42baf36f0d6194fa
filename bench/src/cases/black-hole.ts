import type { Scope } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import type { Group, Sample, Setting } from '../case.ts'
import { latencyFigures } from '../figures/statistics.ts'
import { openEndpoints } from '../fills/endpoints.ts'
import { depositEvents, type PublishEvent } from '../load/events.ts'
import type { Work } from '../load/load.ts'
import { connectAs } from '../load/nats-requests.ts'
import { openLoop } from '../load/open-loop.ts'
import { clockMs, WebhookReceiver } from '../references/webhook-receiver.ts'
import type { Subject } from '../stack/subject.ts'

/** Well below what the service can send, so that no queue is measured. */
const eventsPerSecond = 60
/** Longer than other windows, because a p99 needs enough events. */
const windowsLong = 3
/** More than the silent endpoint may have under way, so that further deliveries wait behind them. */
const silentEvents = 60
const underWayMax = 10_000
const patienceMs = 30_000

/** How long an event takes to reach endpoints that reply, with and without an endpoint that never does. */
export const blackHole: Group = {
  name: 'black-hole',
  needs: ['plain'],
  takesOpenLoop: false,
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
  let turn = 0
  const work: Work = async (_client, load) => {
    turn += 1
    const id = newId('evt')
    const scope = neighbours[turn % neighbours.length] as Scope
    const publishedAtMs = clockMs()
    const arrival = receiver.expect(id)
    await publish(id, scope)
    const atMs = await arrival
    if (atMs === undefined) load.failed('not delivered in time')
    else latenciesMs.push(atMs - publishedAtMs)
  }
  const windowMs = setting.options.windowMs * windowsLong
  const load = await openLoop({ ratePerSecond: eventsPerSecond, windowMs, clientsMax: underWayMax, patienceMs }, work)
  return {
    figures: { ...latencyFigures(latenciesMs), events: latenciesMs.length },
    failures: Object.fromEntries(load.failures),
  }
}
