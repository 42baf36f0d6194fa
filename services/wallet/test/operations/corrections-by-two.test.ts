import { operations, type Rejection } from '@backoffice/contracts'
import { testBed } from '@backoffice/test-kit'
import t from 'tap'
import { wallet } from '../../src/service.ts'

const { openAccount, adjustWallet, reverseTransfer, readBalance } = operations.wallet
const bed = await testBed(t, { wallet }, { config: { wallet: { CORRECT_ALONE_UP_TO: '20.00' } } })
const reason = 'double payout'

async function open(environment: 'sandbox' | 'production', playerId: string) {
  const scope = bed.scope({ environment })
  await bed.rpc.call(openAccount, { scope, input: { playerId } })
  return { playerId, balance: async () => (await bed.rpc.call(readBalance, { scope, input: { playerId } })).available }
}

const refusal = (call: Promise<unknown>): Promise<Rejection> =>
  call.then(
    () => Promise.reject(new Error('done')),
    (error) => error,
  )

t.test('in production a correction above the limit is proposed by one and made by another', async (t) => {
  const { playerId, balance } = await open('production', 'ply_production')
  const alone = { playerId, amount: '20.00', reference: 'small', reason }
  t.match(await bed.team('alice').call(adjustWallet, { input: alone }), { replayed: false })
  const input = { playerId, amount: '20.01', reference: 'large', reason }
  const { code, details } = await refusal(bed.team('alice').call(adjustWallet, { input }))
  t.equal(code, 'AWAITS_APPROVAL')
  t.equal(await balance(), '20.00')
  const approves = String(details?.proposalId)
  t.equal((await refusal(bed.team('alice').call(adjustWallet, { input, approves }))).code, 'TWO_PEOPLE_REQUIRED')
  const { transferId } = await bed.team('bob').call(adjustWallet, { input, approves })
  t.equal(await balance(), '40.01')

  const back = { transferId, reference: 'back', reason }
  const proposed = await refusal(bed.team('bob').call(reverseTransfer, { input: back }))
  t.equal(proposed.code, 'AWAITS_APPROVAL')
  await bed.team('alice').call(reverseTransfer, { input: back, approves: String(proposed.details?.proposalId) })
  t.equal(await balance(), '20.00')
})

t.test('a debit counts like a credit', async (t) => {
  const { playerId } = await open('production', 'ply_production')
  const input = { playerId, amount: '-20.01', reference: 'debit', reason }
  t.equal((await refusal(bed.team('alice').call(adjustWallet, { input }))).code, 'AWAITS_APPROVAL')
})

t.test('the sandbox has no money of anybody: one is enough', async (t) => {
  const { playerId, balance } = await open('sandbox', 'ply_sandbox')
  await bed.team('alice').call(adjustWallet, { input: { playerId, amount: '500.00', reference: 'gift', reason } })
  t.equal(await balance(), '500.00')
})

t.test('a brand of which nothing is known counts as one in production', async (t) => {
  const { playerId } = await open('sandbox', 'ply_sandbox')
  await bed.sql('admin').query('delete from wallet.brand')
  const input = { playerId, amount: '500.00', reference: 'unknown', reason }
  t.equal((await refusal(bed.team('alice').call(adjustWallet, { input }))).code, 'AWAITS_APPROVAL')
})

t.test('what does not exist is refused at once, and not proposed', async (t) => {
  const input = { playerId: 'ply_nobody', amount: '500.00', reference: 'nobody', reason }
  t.equal((await refusal(bed.team('alice').call(adjustWallet, { input }))).code, 'PLAYER_NOT_FOUND')
})
