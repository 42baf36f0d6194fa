// The kit's own client passes what a provider's client must pass (docs/providers-cases.md, A); then two providers play five
// hundred rounds over a network that fails. test/chaos/play.test.ts has more of these, and kills.

import { cases, runCases } from '@backoffice/provider-kit'
import { reconcile, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { Random } from '../chaos/random.ts'
import { services } from '../services.ts'
import { compareBooks, describe, PlayHouse, simulateProviders } from './house.ts'

const bed = await testBed(t, services)
const { baseUrl, providerUrl } = bed.services.gateway.addresses
const system = { baseUrl, providerUrl, act: bed.agreed, sql: bed.sql('admin') }
const random = Random.of(t)

const house = await PlayHouse.open(system)
const provider = await house.provider(t, 0)
const [seat] = await house.seats(provider.gameId, 1, '300.00')
if (seat === undefined) throw new Error('nobody plays')
const only = process.env.CASES?.split(',').map(Number)
const findings = await runCases({
  ...{ client: provider.client, seat, team: house.teamSide(provider), name: 'case' },
  ...(only === undefined ? {} : { only }),
})

const extent = { providers: 2, rounds: 250, players: 10, roundsAtOnce: 16 }
const another = await PlayHouse.open(system)
const simulated = await simulateProviders(t, { house: another, seed: random.seed, extent })
await Promise.all(simulated.map(({ simulator }) => simulator.run()))
await Promise.all(simulated.map(({ network }) => network.settled()))
const problems = await compareBooks(another, simulated)
const report = await reconcile(bed.team('alice'), { full: true })

for (const { number, name, result, why } of findings)
  t.test(`case ${number}: ${name}`, async (t) => {
    t.equal(result, 'proved', why)
    t.comment(why)
  })

t.test('the cases are numbered from 1 to 48', async (t) => {
  t.same(
    cases.map(({ number }) => number),
    Array.from({ length: 48 }, (_, index) => index + 1),
  )
})

t.test(
  'whatever is lost, doubled, delayed or swapped, all books are equal to the cent and no round is open',
  async (t) => {
    t.comment(describe(simulated))
    t.same(problems, [])
  },
)

t.test('reconciliation finds nothing after all of it', async (t) => {
  t.same(report.differences, [])
})
