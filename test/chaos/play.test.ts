// proof: kills a process each second while providers play.

import { setTimeout as pause } from 'node:timers/promises'
import type { Transport } from '@backoffice/provider-kit'
import { isSlow, reconcile, type TestBed } from '@backoffice/test-kit'
import t from 'tap'
import { compareBooks, describe, PlayHouse, simulateProviders } from '../play/house.ts'
import { Random } from './random.ts'
import { startChaosSystem } from './system.ts'

t.setTimeout(3_600_000)
const rounds = Number(process.env.PLAY_ROUNDS ?? (isSlow ? 5_000 : 10_000))
const providers = 4
const players = Math.min(200, rounds / 10)

const random = Random.of(t)
// Of the services: what is not answered is sent again, so to wait longer for who was killed takes only time.
process.env.PATIENCE = '2'
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

const extent = { providers, rounds: rounds / providers, players, roundsAtOnce: players / providers }
const simulated = await simulateProviders(t, { house, seed: random.seed, extent, by: balanced })

const killable = system.replicas.filter(({ name }) => /^(wallet|players|gateway)-/.test(name))
const choices = random.stream('kills')
let [kills, isOver] = [0, false]
const playing = Promise.all(simulated.map(({ simulator }) => simulator.run())).finally(() => (isOver = true))
while (!isOver) {
  // Now and then what they all stand on: the answers to what was written are lost.
  const dying = choices.oneIn(20) ? choices.pick([system.postgres, system.nats]) : choices.pick(killable)
  kills += 1
  // Where a start takes longer the next death waits for it, or two cores would start processes and play nothing.
  await Promise.all([dying.kill(), pause(1_000)])
}
await playing
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
