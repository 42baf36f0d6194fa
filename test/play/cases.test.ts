// The kit's own client passes what a provider's client must pass (docs/providers-cases.md, A).

import { cases, runCases } from '@backoffice/provider-kit'
import { reconcile, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { services } from '../services.ts'
import { PlayHouse } from './house.ts'

const bed = await testBed(t, services)
const { baseUrl, providerUrl } = bed.services.gateway.addresses
const house = await PlayHouse.open(t, { baseUrl, providerUrl, act: bed.agreed, sql: bed.sql('admin') })
const provider = await house.provider(t, 0)
const [seat] = await house.seats(provider.gameId, 1, '300.00')
if (seat === undefined) throw new Error('nobody plays')
const only = process.env.CASES?.split(',').map(Number)
const findings = await runCases({
  ...{ client: provider.client, seat, team: house.teamSide(provider), name: 'case' },
  ...(only === undefined ? {} : { only }),
})

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

t.test('nothing differs after them', async (t) => {
  const report = await reconcile(bed.team('alice'), { full: true })
  t.same(report.differences, [])
})
