// proof: restarts every service under load.

import { type ServiceName, serviceNames } from '@backoffice/contracts'
import { eventually, OperatorClient, reconcile, skipWithout } from '@backoffice/test-kit'
import t from 'tap'
import { expectStatus, register } from '../journey.ts'
import {
  baseUrlOf,
  freePorts,
  newOperator,
  type Replica,
  startFleet,
  startLoad,
  startLoadBalancer,
  statementAgrees,
} from './fleet.ts'

const skip = skipWithout('haproxy', 'haproxy')
const clients = 4
/** Longer than a load balancer needs to see that a replica is not ready. NATS needs no such time. */
const gatewayDrainDelayMs = '1000'

t.test('a rolling restart of each service under load fails no request', { skip }, async (t) => {
  const fleet = await startFleet(t)
  const places = await Promise.all([freePorts(), freePorts()])
  const balancer = await startLoadBalancer(t, places)
  const free = [...places]
  const start = (name: ServiceName) => {
    const ports = name === 'gateway' ? free.shift() : undefined
    if (ports === undefined) return fleet.start(name)
    return fleet.start(name, { ports, environment: { DRAIN_DELAY_MS: gatewayDrainDelayMs } })
  }
  // One each: while it drains, the one that has just started serves alone.
  const running = {} as Record<ServiceName, Replica>
  await Promise.all(serviceNames.map(async (name) => (running[name] = await start(name))))
  await balancer.serves([running.gateway])

  const client = new OperatorClient(baseUrlOf(balancer.port), await newOperator(fleet))
  t.teardown(() => client.close())
  const playerIds = await Promise.all(Array.from({ length: clients }, async () => (await register(client)).id))
  const load = startLoad(client, playerIds)

  for (const name of serviceNames) {
    const before = load.answered
    const old = running[name]
    running[name] = await start(name)
    if (name === 'gateway') await balancer.serves([old, running.gateway])
    t.equal(await old.stop(), 0, `${name} drains and ends`)
    const during = load.answered - before
    // Also by the new process alone.
    await eventually(() => load.answered > before + during + clients * 4)
    t.comment(`${name}: ${during} requests were answered meanwhile`)
    t.same(load.failures, [], `${name}: every request was answered as it should be`)
  }
  await load.stop()
  t.same(load.failures, [])

  let credited = 0
  for (const playerId of playerIds) {
    t.ok(await statementAgrees(client, playerId), 'the statement sums to the balance')
    credited += Number.parseInt(expectStatus(await client.get(`/players/${playerId}/wallet`), 200).available, 10)
  }
  t.equal(credited, load.deposits, 'every confirmed deposit was credited, once')
  t.equal((await reconcile(fleet.bed.team('alice'))).differencesTotal, 0, 'the reconciliation finds nothing')
  t.comment(`${load.answered} requests in all, ${load.deposits} deposits`)
})
