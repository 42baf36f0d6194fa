// Five hundred rounds of two providers over a network that fails; test/chaos/play.test.ts has more, and kills.

import { reconcile, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { Random } from '../chaos/random.ts'
import { services } from '../services.ts'
import { compareBooks, describe, simulateProviders } from './books.ts'
import { PlayHouse } from './house.ts'

const bed = await testBed(t, services)
const { baseUrl, providerUrl } = bed.services.gateway.addresses
const random = Random.of(t)
const house = await PlayHouse.open(t, { baseUrl, providerUrl, act: bed.agreed, sql: bed.sql('admin') })
const extent = { providers: 2, rounds: 250, players: 10, roundsAtOnce: 16 }
const simulated = await simulateProviders(t, { house, seed: random.seed, extent })
await Promise.all(simulated.map(({ simulator }) => simulator.run()))
await Promise.all(simulated.map(({ network }) => network.settled()))
const problems = await compareBooks(house, simulated)
const report = await reconcile(bed.team('alice'), { full: true })

t.test(
  'whatever is lost, doubled, delayed or swapped, all books are equal to the cent and no round is open',
  async (t) => {
    t.comment(describe(simulated))
    t.same(problems, [])
  },
)

t.test('and reconciliation finds nothing', async (t) => {
  t.same(report.differences, [])
})
