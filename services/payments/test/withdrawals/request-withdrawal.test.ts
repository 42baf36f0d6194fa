import { hash, randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { refusal } from '@backoffice/test-kit'
import t from 'tap'
import { moneyPath, outcomes } from '../money-path.ts'

const path = await moneyPath(t)
const { bed } = path

t.test('a withdrawal begins under review: the money is reserved, not debited, and nobody is told', async (t) => {
  const playerId = await path.newPlayerWith('100.00')
  const withdrawal = await path.requestWithdrawal(playerId, { amount: '40' })
  t.match(withdrawal, {
    id: /^wdr_/,
    playerId,
    amount: '40.00',
    currency: 'BRL',
    method: 'pix',
    destination: 'ana@example.com',
    status: 'under_review',
    reason: null,
    reviewedAt: null,
    paidAt: null,
  })
  t.equal(withdrawal.createdAt, withdrawal.updatedAt)
  t.equal(await path.balance(playerId), '100.00 / 60.00')
  t.same(await path.ledgerTypes(playerId), ['DEPOSIT 100.00'])
  t.same(await path.events(withdrawal.id), [])
  t.same(await path.getWithdrawal(withdrawal.id), withdrawal)
})

t.test('thirty withdrawals of 10 at once from 100 let exactly ten pass', async (t) => {
  const playerId = await path.newPlayerWith('100.00')
  const calls = Array.from({ length: 30 }, () => path.requestWithdrawal(playerId))
  t.same(await outcomes(calls), { done: 10, INSUFFICIENT_FUNDS: 20 })
  t.equal(await path.balance(playerId), '100.00 / 0.00')
  const rows = await path.rows(
    'select status, count(*)::int from withdrawal where player_id = $1 group by 1 order by 1',
    [playerId],
  )
  t.same(rows, [
    { status: 'refused', count: 20 },
    { status: 'under_review', count: 10 },
  ])
})

t.test('a replay answers the same when the player has lost the KYC since', async (t) => {
  const playerId = await path.newPlayerWith('100.00')
  const operationId = randomUUID()
  const first = await path.requestWithdrawal(playerId, {}, operationId)
  const decision = { playerId, submission: null, status: 'expirado', reason: 'the document has expired' } as const
  await bed.team('alice').call(operations.players.decideKyc, { input: decision })
  t.same(await path.requestWithdrawal(playerId, {}, operationId), first)
  t.equal(await refusal(path.requestWithdrawal(playerId)), 'KYC_NOT_APPROVED')
})

t.test('a refusal for want of funds is answered again when the money is there; a new key succeeds', async (t) => {
  const playerId = await path.newPlayerWith('5.00')
  const operationId = randomUUID()
  t.equal(await refusal(path.requestWithdrawal(playerId, {}, operationId)), 'INSUFFICIENT_FUNDS')
  await path.confirm((await path.createDeposit(playerId)).id)
  t.equal(await refusal(path.requestWithdrawal(playerId, {}, operationId)), 'INSUFFICIENT_FUNDS')
  t.equal((await path.requestWithdrawal(playerId)).status, 'under_review')
})

t.test('what was refused, or given up, reserves nothing when it comes again', async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  await path.confirm((await path.createDeposit(playerId)).id)
  const [refused, abandoned] = [randomUUID(), randomUUID()]
  t.equal(await refusal(path.requestWithdrawal(playerId, {}, refused)), 'KYC_NOT_APPROVED')
  const input = { abandonedOperationId: abandoned }
  await bed.rpc.call(operations.payments.abandonOperation, { scope: path.scope, input })
  await path.approveKyc(playerId)
  t.equal(await refusal(path.requestWithdrawal(playerId, {}, refused)), 'KYC_NOT_APPROVED')
  t.equal(await refusal(path.requestWithdrawal(playerId, {}, abandoned)), 'SERVICE_UNAVAILABLE')
  t.equal(await path.balance(playerId), '10.00 / 10.00')
  t.equal((await path.requestWithdrawal(playerId)).status, 'under_review', 'not refused for want of its own money')
})

t.test('refusals come in the order player, currency, KYC, funds', async (t) => {
  t.equal(await refusal(path.requestWithdrawal('ply_unknown', { currency: 'USD' })), 'PLAYER_NOT_FOUND')
  const playerId = await path.newPlayer({ kyc: false })
  const production = path.in({ environment: 'production' })
  t.equal(await refusal(production.requestWithdrawal(playerId)), 'PLAYER_NOT_FOUND', "another brand's")
  t.equal(await refusal(path.requestWithdrawal(playerId, { currency: 'USD' })), 'CURRENCY_MISMATCH')
  t.equal(await refusal(path.requestWithdrawal(playerId)), 'KYC_NOT_APPROVED')
  await path.approveKyc(playerId)
  t.equal(await refusal(path.requestWithdrawal(playerId)), 'INSUFFICIENT_FUNDS')
})

t.test('money is never locked in: a player who may not deposit may withdraw', async (t) => {
  const playerId = await path.newPlayerWith('100.00')
  await bed.team('alice').call(operations.players.selfExcludePlayer, { input: { playerId, until: null } })
  t.equal(await refusal(path.createDeposit(playerId)), 'RG_BLOCKED')
  t.equal((await path.requestWithdrawal(playerId)).status, 'under_review')
})

t.test("an intent, an unknown id and another brand's withdrawal are WITHDRAWAL_NOT_FOUND", async (t) => {
  const playerId = await path.newPlayerWith('10.00')
  const { id } = await path.requestWithdrawal(playerId)
  await refusal(path.requestWithdrawal(playerId))
  const [refused] = await path.rows<{ id: string }>(
    `select id from withdrawal where player_id = $1 and status = 'refused'`,
    [playerId],
  )
  const invisible = refused?.id ?? ''
  const calls = [
    path.getWithdrawal('wdr_unknown'),
    path.getWithdrawal(invisible),
    path.in({ environment: 'production' }).getWithdrawal(id),
    path.cancel(invisible),
    path.decide('alice', invisible, 'approve'),
  ]
  t.same(await outcomes(calls), { WITHDRAWAL_NOT_FOUND: 5 })
})

t.test(
  'a key that the gateway has forgotten still stands for its withdrawal, as long as it is remembered',
  async (t) => {
    const playerId = await path.newPlayerWith('100.00')
    const newDigest = () => hash('sha256', randomUUID(), 'base64url')
    const keyFor = (ms: number) => ({
      ...{ digest: newDigest(), request: newDigest() },
      until: new Date(Date.now() + ms).toISOString(),
    })
    const key = keyFor(3_600_000)
    const first = await path.requestWithdrawal(playerId, {}, randomUUID(), key)
    t.same(await path.requestWithdrawal(playerId, {}, randomUUID(), key), first)
    for (const other of [{ amount: '11.00' }, { destination: 'bia@example.com' }, { method: 'ted' }])
      t.equal(await refusal(path.requestWithdrawal(playerId, other, randomUUID(), key)), 'IDEMPOTENCY_CONFLICT')
    t.equal(await path.balance(playerId), '100.00 / 90.00')

    t.not((await path.requestWithdrawal(playerId, {}, randomUUID(), keyFor(3_600_000))).id, first.id, 'another key')
    const past = keyFor(-1)
    const before = await path.requestWithdrawal(playerId, {}, randomUUID(), past)
    t.not((await path.requestWithdrawal(playerId, {}, randomUUID(), past)).id, before.id, 'the key is free again')

    const poor = keyFor(3_600_000)
    t.equal(
      await refusal(path.requestWithdrawal(playerId, { amount: '99.00' }, randomUUID(), poor)),
      'INSUFFICIENT_FUNDS',
    )
    t.equal(
      await refusal(path.requestWithdrawal(playerId, { amount: '99.00' }, randomUUID(), poor)),
      'INSUFFICIENT_FUNDS',
    )
    t.equal(await path.balance(playerId), '100.00 / 60.00')
  },
)
