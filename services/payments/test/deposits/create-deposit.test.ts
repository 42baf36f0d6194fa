import { randomUUID } from 'node:crypto'
import { depositsOfPlayerMax, operations } from '@backoffice/contracts'
import { refusal, TestTime } from '@backoffice/test-kit'
import t from 'tap'
import { moneyPath } from '../money-path.ts'

const { players } = operations
const noon = new Date('2026-03-02T15:00:00.000Z')
// Noon in São Paulo; the tests of days move it.
const time = new TestTime(noon)
/** How far the clock of the process is ahead of PostgreSQL's. */
let aheadMs = 0
const path = await moneyPath(t, { time, clock: { now: () => new Date(time.now().getTime() + aheadMs) } })
const { bed, scope } = path

async function limit(playerId: string, dailyDepositLimit: string | null): Promise<void> {
  await bed.team('alice').call(players.setDailyLimit, { input: { playerId, dailyDepositLimit } })
}

t.test('a deposit begins pending and does not touch the wallet', async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  const deposit = await path.createDeposit(playerId, { amount: '150.5', externalReference: 'pay-1001' })
  t.match(deposit, {
    id: /^dep_/,
    playerId,
    amount: '150.50',
    currency: 'BRL',
    method: 'pix',
    externalReference: 'pay-1001',
    status: 'pending',
    failureReason: null,
    createdAt: '2026-03-02T15:00:00.000Z',
    confirmedAt: null,
    failedAt: null,
  })
  t.equal(await path.balance(playerId), '0.00 / 0.00')
  t.same(await path.events(deposit.id), [])
})

t.test(
  'a repeated externalReference is refused with the id of the deposit that has it, before all else but the player',
  async (t) => {
    const playerId = await path.newPlayer({ kyc: false })
    const { id } = await path.createDeposit(playerId, { externalReference: 'pay-twice' })
    const excluded = await path.newPlayer({ kyc: false })
    await bed.team('alice').call(players.selfExcludePlayer, { input: { playerId: excluded, until: null } })
    for (const again of [playerId, excluded]) {
      await t.rejects(path.createDeposit(again, { externalReference: 'pay-twice', currency: 'USD' }), {
        code: 'DEPOSIT_ALREADY_EXISTS',
        details: { depositId: id },
      })
    }
    t.equal(await refusal(path.createDeposit('ply_unknown', { externalReference: 'pay-twice' })), 'PLAYER_NOT_FOUND')
  },
)

t.test('pending and confirmed deposits count against a limit, also a new one; failed ones do not', async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  const [first, second] = [await path.createDeposit(playerId), await path.createDeposit(playerId)]
  await limit(playerId, '30.00')
  await path.confirm(first.id)
  await t.rejects(path.createDeposit(playerId, { amount: '10.01' }), {
    code: 'RG_BLOCKED',
    details: { reason: 'daily_limit' },
  })
  await path.fail(second.id)
  t.equal((await path.createDeposit(playerId, { amount: '20.00' })).status, 'pending')
  t.equal(await refusal(path.createDeposit(playerId, { amount: '0.01' })), 'RG_BLOCKED')
})

t.test("the day is the brand's calendar day: it ends at midnight in São Paulo, not in UTC", async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  await limit(playerId, '10.00')
  t.teardown(() => time.set(noon))
  await path.createDeposit(playerId)
  await time.set(new Date('2026-03-03T02:59:59.999Z'))
  t.equal(await refusal(path.createDeposit(playerId)), 'RG_BLOCKED', '23:59:59.999 of the same day')
  await time.set(new Date('2026-03-03T03:00:00.000Z'))
  t.equal((await path.createDeposit(playerId)).status, 'pending', '00:00 of the next')
  t.equal(await refusal(path.createDeposit(playerId)), 'RG_BLOCKED')
})

t.test('a day that is not the one of which the sum is kept is summed, from its midnight in São Paulo on', async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  await limit(playerId, '30.00')
  t.teardown(() => time.set(noon))
  const ids: string[] = []
  for (const at of ['2026-03-02T02:59:59.999Z', '2026-03-02T03:00:00.000Z', '2026-03-03T03:00:00.000Z']) {
    await time.set(new Date(at))
    ids.push((await path.createDeposit(playerId, { amount: '20.00' })).id)
  }
  // PostgreSQL's clock is set back by a day.
  await time.set(noon)
  t.equal(await refusal(path.createDeposit(playerId, { amount: '10.01' })), 'RG_BLOCKED')
  await path.createDeposit(playerId, { amount: '10.00' })
  t.equal(await refusal(path.createDeposit(playerId, { amount: '0.01' })), 'RG_BLOCKED')
  await time.set(new Date('2026-03-03T15:00:00.000Z'))
  t.equal(await refusal(path.createDeposit(playerId, { amount: '10.01' })), 'RG_BLOCKED', 'its sum was kept')
  await path.fail(ids[1] ?? '')
  t.equal(await refusal(path.createDeposit(playerId, { amount: '10.01' })), 'RG_BLOCKED', 'another day has failed')
  t.match(
    await path.createDeposit(playerId, { amount: '10.00' }),
    { status: 'pending' },
    'nor did another day add to it',
  )
})

t.test('replicas whose clocks are a day apart let no more through than the limit', async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  await limit(playerId, '100.00')
  t.teardown(() => {
    aheadMs = 0
  })
  const amount = '100.00'
  const { createdAt } = await path.createDeposit(playerId, { amount })
  for (const days of [1, -1]) {
    aheadMs = days * 24 * 3_600_000
    t.equal(await refusal(path.createDeposit(playerId, { amount })), 'RG_BLOCKED')
  }
  t.equal(createdAt, noon.toISOString())

  const raised = await path.newPlayer({ kyc: false })
  await limit(raised, '100.00')
  await limit(raised, '200.00')
  const excluded = await path.newPlayer({ kyc: false })
  const until = new Date(noon.getTime() + 3_600_000).toISOString()
  await bed.team('alice').call(players.selfExcludePlayer, { input: { playerId: excluded, until } })
  aheadMs = 25 * 3_600_000
  t.equal(await refusal(path.createDeposit(raised, { amount: '100.01' })), 'RG_BLOCKED', 'a raise that waits')
  t.equal(await refusal(path.createDeposit(excluded)), 'RG_BLOCKED', 'an exclusion that lasts')
})

t.test('readDayDeposits sums the day in which it is asked, pending and confirmed', async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  const read = async () =>
    (await bed.rpc.call(operations.payments.readDayDeposits, { scope, input: { playerId } })).total
  t.equal(await read(), '0.00')
  const deposits = [
    await path.createDeposit(playerId, { amount: '10.10' }),
    await path.createDeposit(playerId, { amount: '5' }),
  ]
  await path.confirm(deposits[0]?.id ?? '')
  t.equal(await read(), '15.10')
  await path.fail(deposits[1]?.id ?? '')
  t.equal(await read(), '10.10')
})

t.test('a deposit that the wallet might have no room for is refused before it is collected', async (t) => {
  const playerId = await path.newPlayer()
  const [earlier] = [await path.createDeposit(playerId, { amount: '7.00' }), await path.createDeposit(playerId)]
  const deposited = () => path.rows('select deposited::text from depositor where player_id = $1', [playerId])
  t.same(await deposited(), [{ deposited: '1700' }])

  const room = 1_000n
  await path.rows('update depositor set deposited = $2 where player_id = $1', [playerId, depositsOfPlayerMax - room])
  const operationId = randomUUID()
  const tooMuch = { amount: '10.01', externalReference: 'pay-too-much' }
  for (const _attempt of [1, 2])
    await t.rejects(path.createDeposit(playerId, tooMuch, operationId), {
      code: 'VALIDATION_ERROR',
      details: { in: 'body', issues: [{ path: '/amount' }] },
    })
  const { id } = await path.createDeposit(playerId, { amount: '10.00' })
  t.equal(await refusal(path.createDeposit(playerId, { amount: '0.01' })), 'VALIDATION_ERROR')
  await path.confirm(earlier.id)
  await path.confirm(id)
  t.equal(await path.balance(playerId), '17.00 / 17.00')
})

t.test('amounts are exact to the last of 13 digits', async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  const deposit = await path.createDeposit(playerId, { amount: '9999999999999.99' })
  t.equal(deposit.amount, '9999999999999.99')
  await path.confirm(deposit.id)
  t.equal(await path.balance(playerId), '9999999999999.99 / 9999999999999.99')
})

t.test('a confirmed deposit is in the wallet when the reply arrives, and the operator is told', async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  const pending = await path.createDeposit(playerId, { amount: '150.00' })
  const confirmed = await path.confirm(pending.id)
  t.same({ ...confirmed, confirmedAt: null }, { ...pending, status: 'confirmed' })
  t.match(confirmed.confirmedAt, /^\d{4}-.*Z$/)
  t.equal(await path.balance(playerId), '150.00 / 150.00')
  t.same(await path.ledgerTypes(playerId), ['DEPOSIT 150.00'])
  t.same(await path.events(pending.id), [
    { type: 'deposit.confirmed', data: { ...confirmed, previousStatus: 'pending', version: 2 } },
  ])
})

t.test('a failed deposit credits nothing, keeps its reason and tells nobody', async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  const { id } = await path.createDeposit(playerId)
  const failed = await path.fail(id, { reason: 'expired' })
  t.match(failed, { id, status: 'failed', failureReason: 'expired', confirmedAt: null })
  t.match(failed.failedAt, /Z$/)
  t.equal(await path.balance(playerId), '0.00 / 0.00')
  t.same(await path.events(id), [])
})

t.test('a deposit is confirmed after a self-exclusion and past a limit: the money has been collected', async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  const { id } = await path.createDeposit(playerId)
  const team = bed.team('alice')
  await team.call(operations.players.setDailyLimit, { input: { playerId, dailyDepositLimit: '1.00' } })
  await team.call(operations.players.selfExcludePlayer, { input: { playerId, until: null } })
  t.equal((await path.confirm(id)).status, 'confirmed')
  t.equal(await path.balance(playerId), '10.00 / 10.00')
})
