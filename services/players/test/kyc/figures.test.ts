import { operations } from '@backoffice/contracts'
import { newPlayer, seenSubmission, TestTime, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { players } from '../../src/service.ts'

const { ageKycQueue, timeKycDecisions, kycQueue, registerPlayer, submitKyc, decideKyc } = operations.players
const { listRaisedLimits, setDailyLimit } = operations.players
const hourMs = 3_600_000
const now = new Date('2026-03-10T12:00:00.000Z')
const time = new TestTime(new Date(now.getTime() - 48 * hourMs))
const bed = await testBed(t, { players, wallet }, { time })
const alice = bed.team('alice')
const hoursAgo = (hours: number) => new Date(now.getTime() - hours * hourMs)

async function submitAt(hours: number, scope = bed.scope()): Promise<string> {
  await time.set(hoursAgo(hours))
  const { id: playerId } = await bed.rpc.call(registerPlayer, { scope, input: newPlayer() })
  await bed.rpc.call(submitKyc, { scope, input: { playerId, documentType: 'rg', reference: 'x' } })
  return playerId
}
const decide = async (playerId: string, status: 'aprovado' | 'reprovado') => {
  const seen = await seenSubmission(alice, playerId)
  await alice.call(decideKyc, { input: { ...seen, status, reason: 'looked at' } })
}

// Before the first test: without one under way, the file would end here.
const [old, other, young] = [await submitAt(30), await submitAt(6), await submitAt(0.5)]
const inProduction = await submitAt(0.5, bed.scope({ environment: 'production' }))
await time.set(now)

t.test('what waits is counted by age, and found by it, in one environment', async (t) => {
  const ages = (await alice.call(ageKycQueue, { input: { environment: 'sandbox' } })).data
  t.same(ages, [
    { fromHours: 0, waiting: 1 },
    { fromHours: 4, waiting: 1 },
    { fromHours: 24, waiting: 1 },
  ])
  const queued = async (period: { readonly from?: string; readonly to?: string }) =>
    (await alice.call(kycQueue, { input: { environment: 'sandbox', limit: 9, ...period } })).data.map(
      ({ playerId }) => playerId,
    )
  const [day, four] = [hoursAgo(24).toISOString(), hoursAgo(4).toISOString()]
  t.same(await queued({ to: day }), [old])
  t.same(await queued({ from: day, to: four }), [other])
  t.same(await queued({ from: four }), [young])
})

t.test('how long decisions took is known by day; a document is no decision', async (t) => {
  const times = async (environment: 'sandbox' | 'production') =>
    (await alice.call(timeKycDecisions, { input: { environment } })).data
  t.same(await times('sandbox'), [])
  await decide(old, 'reprovado')
  await decide(other, 'aprovado')
  const [fast, slow] = [6 * 3_600, 30 * 3_600]
  t.same(await times('sandbox'), [{ day: '2026-03-10', decided: 2, medianSeconds: fast, p90Seconds: slow }])
  t.same(await times('production'), [])
  await decide(inProduction, 'reprovado')
  // As an operator leaves them that tests its program at night.
  await bed.sql('admin').query(
    `insert into players.player_change (player_id, at, actor, field, next)
    select $1, $2::timestamptz + n * interval '1 second', 'sandbox', 'kycStatus', 'em_analise' from generate_series(1, 3000) n`,
    [young, now],
  )
  t.match(await times('production'), [{ day: '2026-03-10', decided: 1 }], 'what is done in the sandbox hides nothing')
})

t.test('limits that were raised or removed are listed, and no others', async (t) => {
  const raised = async (input: { readonly environment?: 'production'; readonly since?: string } = {}) =>
    (await alice.call(listRaisedLimits, { input: { environment: 'sandbox', ...input } })).data
  const set = (playerId: string, dailyDepositLimit: string | null) =>
    alice.call(setDailyLimit, { input: { playerId, dailyDepositLimit } })
  for (const limit of ['50.00', '40.00']) await set(old, limit)
  t.same(await raised(), [], 'a first limit and a lower one')
  await set(old, '100.00')
  await set(other, '9.00')
  await time.set(new Date(now.getTime() + 1_000))
  await set(other, null)
  t.match(await raised(), [
    { playerId: other, previous: '9.00', next: null, actor: 'alice', operatorName: null },
    { playerId: old, previous: '40.00', next: '100.00', name: /./ },
  ])
  t.same(await raised({ environment: 'production' }), [])
  t.equal((await raised({ since: new Date(now.getTime() + 1_000).toISOString() })).length, 1)
})
