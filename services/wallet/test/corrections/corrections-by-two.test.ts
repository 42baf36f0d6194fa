import { defined, type Operation, operations, type Rejection, type SeenPart } from '@backoffice/contracts'
import { migrate } from '@backoffice/migrator/schema'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { dayMs, newId } from '@backoffice/process'
import { reconciler } from '@backoffice/reconciler'
import { held as lockHeld, type TeamUser, TestTime, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { runOf } from '../../../reconciler/test/runs/run.ts'
import { wallet } from '../../src/service.ts'

const { openAccount, adjustWallet, reverseTransfer, readBalance, listAudit, listEntries, declineProposal } =
  operations.wallet
const time = new TestTime()
const bed = await testBed(t, { wallet, reconciler }, { time, config: { wallet: { CORRECT_ALONE_UP_TO: '20.00' } } })
const reason = 'double payout'

/** Of each player, as its page shows it: the service that knows players does not run here. */
const shown = new Map<string, SeenPart<typeof adjustWallet>>()
/** Somebody who has seen whose account they correct, unless they say something else. */
const team = (user: TeamUser) => {
  const person = bed.team(user)
  const call = (operation: Operation, options: { readonly input: { readonly playerId?: string } }) => {
    const seen = operation.id === adjustWallet.id ? { seen: shown.get(options.input.playerId ?? '') } : {}
    return person.call(operation, { ...options, input: { ...seen, ...options.input } })
  }
  return { call } as typeof person
}

async function open(environment: 'sandbox' | 'production', playerId: string, brand: { brandId?: string } = {}) {
  const scope = bed.scope({ environment, ...brand })
  await bed.rpc.call(openAccount, { scope, input: { playerId } })
  shown.set(playerId, { operatorId: scope.operatorId, environment, currency: scope.currency })
  return {
    ...scope,
    playerId,
    balance: async () => (await bed.rpc.call(readBalance, { scope, input: { playerId } })).available,
  }
}

const refusal = (call: Promise<unknown>): Promise<Rejection> =>
  call.then(
    () => Promise.reject(new Error('done')),
    (error) => error,
  )

t.test('in production a correction above the limit is proposed by one and made by another', async (t) => {
  const { playerId, balance } = await open('production', 'ply_production')
  const alone = { playerId, amount: '20.00', reference: 'small', reason }
  t.match(await team('alice').call(adjustWallet, { input: alone }), { replayed: false })
  const input = { playerId, amount: '20.01', reference: 'large', reason }
  const { code, details } = await refusal(team('alice').call(adjustWallet, { input }))
  t.equal(code, 'AWAITS_APPROVAL')
  t.equal(await balance(), '20.00')
  const approves = String(details?.proposalId)
  t.equal((await refusal(team('alice').call(adjustWallet, { input, approves }))).code, 'TWO_PEOPLE_REQUIRED')
  const agreed = { input: { ...input, reason: 'checked with ticket 77' }, approves }
  const { transferId } = await team('bob').call(adjustWallet, agreed)
  t.equal(await balance(), '40.01')

  const item = transferId.replace('trf', 'led')
  const back = { playerId, transferId: item, reference: 'back', reason: 'the wrong player' }
  const proposed = await refusal(team('bob').call(reverseTransfer, { input: back }))
  t.equal(proposed.code, 'AWAITS_APPROVAL')
  const second = { input: { ...back, reason: 'agreed' }, approves: String(proposed.details?.proposalId) }
  const reversed = await team('alice').call(reverseTransfer, second)
  t.match(reversed, { reason: back.reason, by: 'bob', approvedBy: 'alice' })
  t.equal(await balance(), '20.00')
  const entries = await team('auditor').call(listEntries, { input: { playerId, limit: 10 } })
  t.match(
    entries.data,
    [
      { reference: { id: 'back' }, reason: back.reason, by: 'bob', approvedBy: 'alice' },
      { reference: { id: 'large' }, reason, by: 'alice', approvedBy: 'bob' },
      { reference: { id: 'small' }, reason, by: 'alice', approvedBy: null },
    ],
    'the ledger says who asked and why, and who agreed',
  )
  const { data } = await team('auditor').call(listAudit, { input: { subject: playerId, limit: 10 } })
  const done = data.filter(({ outcome }) => outcome === 'done')
  const both = { reason: 'checked with ticket 77', proposedBy: 'alice', proposalReason: reason, proposalId: approves }
  t.match(done, [both, { reason, proposedBy: null, proposalReason: null, proposalId: null }])
  const changed = (before: string, after: string) => [{ field: 'balance', before, after }]
  const changes = [changed('20.00', '40.01'), changed('0.00', '20.00')]
  t.same(
    done.map((entry) => entry.changes),
    changes,
    'what the trail says of them',
  )
})

t.test('a debit counts like a credit', async (t) => {
  const { playerId } = await open('production', 'ply_production')
  const input = { playerId, amount: '-20.01', reference: 'debit', reason }
  t.equal((await refusal(team('alice').call(adjustWallet, { input }))).code, 'AWAITS_APPROVAL')
})

t.test('what one person corrects alone for a player within a day counts together, either way', async (t) => {
  const { playerId, balance } = await open('production', 'ply_often')
  const give = (user: 'alice' | 'bob', amount: string, reference: string, approves?: string) =>
    team(user).call(adjustWallet, { input: { playerId, amount, reference, reason }, ...defined({ approves }) })
  const { transferId } = await give('alice', '12.00', 'often-1')
  t.match(await give('alice', '12.00', 'often-1'), { replayed: true }, 'a retry counts once')
  await give('bob', '10.00', 'often-0')
  const { code, details } = await refusal(give('alice', '-8.01', 'often-2'))
  t.equal(code, 'AWAITS_APPROVAL')
  const approves = String(details?.proposalId)
  t.equal((await refusal(give('alice', '-8.01', 'often-2', approves))).code, 'TWO_PEOPLE_REQUIRED')
  await give('bob', '-8.01', 'often-2', approves)
  t.match(await give('alice', '8.00', 'often-3'), { replayed: false }, 'what two agreed to counts for nobody')
  const back = { playerId, transferId, reference: 'often-back', reason }
  t.equal((await refusal(team('alice').call(reverseTransfer, { input: back }))).code, 'AWAITS_APPROVAL')
  t.equal((await refusal(give('bob', '10.01', 'often-4'))).code, 'AWAITS_APPROVAL')
  t.match(await give('bob', '-10.00', 'often-4'), { replayed: false }, 'another person')
  t.equal(await balance(), '11.99')
  const other = await open('production', 'ply_other')
  const input = { playerId: other.playerId, amount: '20.00', reference: 'other-1', reason }
  t.match(await team('alice').call(adjustWallet, { input }), { replayed: false }, 'another player')
})

t.test('many corrections at once by one person sum to no more than the limit', async (t) => {
  const { playerId, balance } = await open('production', 'ply_at_once')
  const give = (reference: string) =>
    team('alice').call(adjustWallet, { input: { playerId, amount: '6.00', reference, reason } })
  const given = await Promise.allSettled(Array.from({ length: 8 }, (_, index) => give(`at-once-${index}`)))
  const done = given.filter(({ status }) => status === 'fulfilled').length
  t.ok(done >= 1 && done <= 3, `${done}`)
  t.equal(Number(await balance()), 6 * done)
})

t.test('what is declined while somebody approves it is not carried out', async (t) => {
  const { playerId, balance } = await open('production', 'ply_both')
  const input = { playerId, amount: '30.00', reference: 'both', reason }
  const { details } = await refusal(team('alice').call(adjustWallet, { input }))
  const proposalId = String(details?.proposalId)
  const lock = 'select from wallet.team_proposal where id = $1 for update'
  const { isAwaited, commit } = await lockHeld(bed.sql('admin'), lock, [proposalId])
  const declined = team('alice').call(declineProposal, { input: { proposalId, reason } })
  await isAwaited({ count: 1 })
  const approved = refusal(team('bob').call(adjustWallet, { input, approves: proposalId }))
  await isAwaited({ count: 2 })
  await commit()
  t.match(await declined, { state: 'declined' })
  t.match(await approved, { code: 'PROPOSAL_NOT_OPEN', details: { state: 'declined' } })
  t.equal(await balance(), '0.00')
})

t.test('who names a proposal that is none is refused, also below the limit', async (t) => {
  const { playerId, balance } = await open('production', 'ply_named')
  const input = { playerId, amount: '1.00', reference: 'named', reason }
  const call = team('alice').call(adjustWallet, { input, approves: 'prp_none' })
  t.equal((await refusal(call)).code, 'PROPOSAL_NOT_FOUND')
  t.equal(await balance(), '0.00')
})

t.test('the sandbox has no money of anybody: one is enough', async (t) => {
  const { playerId, balance } = await open('sandbox', 'ply_sandbox')
  await team('alice').call(adjustWallet, { input: { playerId, amount: '500.00', reference: 'gift', reason } })
  t.equal(await balance(), '500.00')
})

t.test('a brand of which nothing is known counts as one in production', async (t) => {
  const { playerId } = await open('sandbox', 'ply_sandbox')
  const input = { playerId, amount: '500.00', reference: 'unknown', reason }
  const { transferId } = await team('alice').call(adjustWallet, { input })
  // A trigger keeps it otherwise.
  await bed
    .sql('admin')
    .query("begin; set local session_replication_role = 'replica'; delete from wallet.brand; commit")
  const back = { playerId, transferId, reference: 'unknown-back', reason }
  t.equal((await refusal(team('alice').call(reverseTransfer, { input: back }))).code, 'AWAITS_APPROVAL')
  const more = { ...input, reference: 'unknown-more' }
  t.equal(
    (await refusal(team('alice').call(adjustWallet, { input: more }))).code,
    'NOT_AS_SEEN',
    'nobody says whose it is',
  )
})

t.test('what does not exist is refused at once, and not proposed', async (t) => {
  const { operatorId, environment, currency } = bed.scope({ environment: 'production' })
  const seen = { operatorId, environment, currency }
  const input = { playerId: 'ply_nobody', amount: '500.00', reference: 'nobody', seen, reason }
  t.equal((await refusal(team('alice').call(adjustWallet, { input }))).code, 'PLAYER_NOT_FOUND')
})

t.test('reconciliation counts as the wallet does, to the millisecond', async (t) => {
  for (const { name: service, migrations } of [payments, players])
    await migrate({ service, migrations, url: bed.databaseUrl })
  const brandId = newId('brd')
  const { playerId } = await open('production', 'ply_counted', { brandId })
  const begin = Date.now()
  const give = async (user: 'alice' | 'bob', amount: string, msLater: number) => {
    await time.set(new Date(begin + msLater))
    const input = { playerId, amount, reference: `${user}-${amount}-${msLater}`, reason }
    return team(user).call(adjustWallet, { input })
  }
  await give('alice', '12.00', 0)
  await give('bob', '20.00', 0)
  await give('alice', '8.00', dayMs - 1)
  t.equal((await refusal(give('alice', '0.01', dayMs - 1))).code, 'AWAITS_APPROVAL')
  const { transferId } = await give('alice', '11.00', dayMs)
  const back = { playerId, transferId, reference: 'counted-back', reason }
  t.equal((await refusal(team('alice').call(reverseTransfer, { input: back }))).code, 'AWAITS_APPROVAL')
  await team('bob').call(reverseTransfer, { input: back })
  await time.set(null)
  const found = async (aloneUpTo: string) => {
    const team = { ...bed.issuer.team, aloneUpTo, payAloneUpTo: '0.00', rollOutMs: 0 }
    const { differences } = await runOf(bed, { team })
    t.notOk(
      differences.some(({ check }) => check === 'corrections'),
      'the ledger has the reasons of who asked',
    )
    const ours = differences.filter((found) => found.brandId === brandId && found.check === 'signatures')
    return ours.map(({ actual }) => actual.replace(/ \(operation .*?\)/, '')).sort()
  }
  t.same(await found('20.00'), [])
  const byOne = 'it takes two people, and nobody has approved it'
  t.same(await found('18.99'), [
    `alice: ${byOne}: 19.00 for this player within 24 hours`,
    `alice: ${byOne}: 20.00 for this player within 24 hours`,
    `bob: ${byOne}`,
  ])
})
