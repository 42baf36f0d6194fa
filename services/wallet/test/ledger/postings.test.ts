import { operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { refusal, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { wallet } from '../../src/service.ts'

const bed = await testBed(t, { wallet })
const scope = bed.scope()
const effectiveAt = '2026-03-02T12:00:00.000Z'
const { captureHold, creditAccount, listTransactions, openHold, readBalance, releaseHold } = operations.wallet

async function player(amount: string): Promise<string> {
  const playerId = newId('ply')
  await bed.rpc.call(creditAccount, { scope, input: { playerId, depositId: newId('dep'), amount, effectiveAt } })
  return playerId
}

const balance = (playerId: string) => bed.rpc.call(readBalance, { scope, input: { playerId } })
const hold = (playerId: string, withdrawalId: string, amount: string) =>
  bed.rpc.call(openHold, { scope, input: { playerId, withdrawalId, amount } })
const capture = (playerId: string, withdrawalId: string) =>
  bed.rpc.call(captureHold, { scope, input: { playerId, withdrawalId, effectiveAt } })
const release = (playerId: string, withdrawalId: string) =>
  bed.rpc.call(releaseHold, { scope, input: { playerId, withdrawalId } })

t.test('a credit opens a missing account', async (t) => {
  const playerId = await player('12.34')
  t.same(await balance(playerId), { available: '12.34', withdrawable: '12.34' })
})

t.test('a deposit is credited once, however often and however many at once', async (t) => {
  const playerId = newId('ply')
  const input = { playerId, depositId: newId('dep'), amount: '10.00', effectiveAt }
  const replies = await Promise.all(Array.from({ length: 30 }, () => bed.rpc.call(creditAccount, { scope, input })))
  t.equal(new Set(replies.map(({ transferId }) => transferId)).size, 1)
  t.equal((await balance(playerId)).available, '10.00')
})

t.test('a capture debits what was held, once', async (t) => {
  const playerId = await player('100.00')
  const withdrawalId = newId('wdr')
  t.same(await hold(playerId, withdrawalId, '40.00'), { state: 'open' })
  t.same(await balance(playerId), { available: '100.00', withdrawable: '60.00' })
  const first = await capture(playerId, withdrawalId)
  t.same(await capture(playerId, withdrawalId), first)
  t.same(await balance(playerId), { available: '60.00', withdrawable: '60.00' })
  const { data } = await bed.rpc.call(listTransactions, { scope, input: { playerId, limit: 1 } })
  t.match(data, [{ type: 'WITHDRAWAL', amount: '-40.00', reference: { type: 'withdrawal', id: withdrawalId } }])
  t.same(await release(playerId, withdrawalId), { state: 'captured' }, 'what is paid cannot be released')
})

t.test('a release gives back what was held', async (t) => {
  const playerId = await player('100.00')
  const withdrawalId = newId('wdr')
  await hold(playerId, withdrawalId, '40.00')
  t.same(await release(playerId, withdrawalId), { state: 'released' })
  t.same(await release(playerId, withdrawalId), { state: 'released' })
  t.same(await balance(playerId), { available: '100.00', withdrawable: '100.00' })
  t.same(await hold(playerId, withdrawalId, '40.00'), { state: 'released' }, 'a released hold stays released')
})

t.test('capturing what was never held is an error to look at, not an answer', async (t) => {
  const playerId = await player('10.00')
  t.equal(await refusal(capture(playerId, newId('wdr'))), 'INTERNAL_ERROR')
  t.equal((await balance(playerId)).available, '10.00')
})
