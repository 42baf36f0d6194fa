import t from 'tap'
import { isDestinationKnown, isFirstWithdrawal, sumsBegin } from '../../src/withdrawals/withdrawal.ts'

t.test('a destination is known however it was written, and no other is', async (t) => {
  const past = { destinations: ['Ana@Example.com ', '+5511987654321'] }
  for (const destination of ['ana@example.com', ' ANA@example.com', '+5511987654321'])
    t.ok(isDestinationKnown(destination, past), destination)
  for (const destination of ['ana@example.com.br', '5511987654321', ''])
    t.notOk(isDestinationKnown(destination, past), destination)
})

t.test('a withdrawal is the first when none was paid before', async (t) => {
  t.ok(isFirstWithdrawal({ paidBefore: false }))
  t.notOk(isFirstWithdrawal({ paidBefore: true }))
})

t.test('sums begin 30 days ago', async (t) => {
  t.same(sumsBegin(new Date('2026-03-31T12:00:00.000Z')), new Date('2026-03-01T12:00:00.000Z'))
})
