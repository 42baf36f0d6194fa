// proof: kills a process each second while providers play.

import { setTimeout as pause } from 'node:timers/promises'
import type { Transport } from '@backoffice/provider-kit'
import { eventually, reconcile, type TestBed } from '@backoffice/test-kit'
import t from 'tap'
import { compareBooks, describe, PlayHouse, simulateProviders } from '../play/house.ts'
import { Random } from './random.ts'
import { type Replica, startChaosSystem } from './system.ts'

t.setTimeout(3_600_000)
const rounds = Number(process.env.PLAY_ROUNDS ?? 10_000)
const providers = 4
const players = Math.min(200, rounds / 10)

const random = Random.of(t)
const system = await startChaosSystem(t)
const { team, sql, baseUrls, providerUrls } = system
const [baseUrl = '', providerUrl = ''] = [baseUrls[0], providerUrls[0]]
// Outside of production nothing takes two people.
const act: TestBed<unknown>['agreed'] = (operation, options) => team.call(operation, options)
const house = await PlayHouse.open({ baseUrl, providerUrl, act, sql })

/** By one gateway after the other, as over a load balancer. */
function balanced(send: Transport): Transport {
  let turn = 0
  return (call) => {
    const origin = new URL(providerUrls[turn++ % providerUrls.length] ?? '').origin
    return send({ ...call, url: call.url.replace(/^https?:\/\/[^/]+/, origin) })
  }
}

const extent = { providers, rounds: rounds / providers, players, roundsAtOnce: 12 }
const simulated = await simulateProviders(t, { house, seed: random.seed, extent, by: balanced })

/** Both of a service are never away at once, as in a roll-out. */
const killable = system.replicas.filter(({ name }) => /^(wallet|players|gateway)-/.test(name))
const away = new Set<Replica>()
const twinOf = (one: Replica) =>
  killable.find(({ name }) => name !== one.name && name.startsWith(one.name.slice(0, -1)))
let kills = 0
const playing = Promise.all(simulated.map(({ simulator }) => simulator.run())).then(() => true)
const choices = random.stream('kills')
while (!(await Promise.race([playing, pause(1_000).then(() => false)]))) {
  // Now and then what they all stand on: the answers to what was written are lost.
  if (choices.oneIn(20)) {
    kills += 1
    await choices.pick([system.postgres, system.nats]).kill()
    continue
  }
  const up = killable.filter((one) => !away.has(one) && !away.has(twinOf(one) as Replica))
  if (up.length === 0) continue
  const chosen = choices.pick(up)
  kills += 1
  away.add(chosen)
  void chosen.kill().finally(() => away.delete(chosen))
}
await eventually(() => away.size === 0)
await Promise.all(simulated.map(({ network }) => network.settled()))
const problems = await compareBooks(house, simulated)
const report = await reconcile(team, { full: true })

t.test('whatever dies, all books are equal to the cent and no round is open', async (t) => {
  t.comment(`${rounds} rounds, ${kills} kills, ${describe(simulated)}`)
  t.same(problems, [])
})

t.test('and reconciliation finds nothing', async (t) => {
  t.same(report.differences, [])
})
