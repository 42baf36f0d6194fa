import { balanceByTeamMax, defined, type Operation, operations, type SeenPart } from '@backoffice/contracts'
import { dayMs, newId } from '@backoffice/process'
import { reconciler } from '@backoffice/reconciler'
import { allPages, proposalOf, refusal, type TeamUser, TestTime, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { runOf } from '../../../reconciler/test/runs/run.ts'
import { wallet } from '../../src/service.ts'

const { openAccount, creditAccount, adjustWallet, reverseTransfer, readBalance, getWallet } = operations.wallet
const { listAudit, listEntries, listTransactions, exportStatement } = operations.wallet
// What is posted is old enough to be exported.
const time = new TestTime(new Date(Date.now() - 120_000))
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

/** Whoever makes this call alone only proposes it. @returns the id of the proposal */
const proposed = async (call: Promise<unknown>) => (await proposalOf(call)).proposalId

t.test('in production a correction above the limit is proposed by one and made by another', async (t) => {
  const { playerId, balance } = await open('production', 'ply_production')
  const alone = { playerId, amount: '20.00', reference: 'small', reason }
  t.match(await team('alice').call(adjustWallet, { input: alone }), { replayed: false })
  const input = { playerId, amount: '20.01', reference: 'large', reason }
  await proposed(team('alice').call(adjustWallet, { input: { ...input, amount: '-20.01', reference: 'debit' } }))
  const approves = await proposed(team('alice').call(adjustWallet, { input }))
  t.equal(await balance(), '20.00')
  t.equal(await refusal(team('alice').call(adjustWallet, { input, approves })), 'TWO_PEOPLE_REQUIRED')
  const agreed = { input: { ...input, reason: 'checked with ticket 77' }, approves }
  const { transferId } = await team('bob').call(adjustWallet, agreed)
  t.equal(await balance(), '40.01')

  const item = transferId.replace('trf', 'led')
  const back = { playerId, transferId: item, reference: 'back', reason: 'the wrong player' }
  const agreedBack = await proposed(team('bob').call(reverseTransfer, { input: back }))
  const second = { input: { ...back, reason: 'agreed' }, approves: agreedBack }
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

t.test('what one person corrects alone for a player within a day counts together, either way', async (t) => {
  const { playerId, balance } = await open('production', 'ply_often')
  const give = (user: 'alice' | 'bob', amount: string, reference: string, approves?: string) =>
    team(user).call(adjustWallet, { input: { playerId, amount, reference, reason }, ...defined({ approves }) })
  const { transferId } = await give('alice', '12.00', 'often-1')
  t.match(await give('alice', '12.00', 'often-1'), { replayed: true }, 'a retry counts once')
  await give('bob', '10.00', 'often-0')
  const approves = await proposed(give('alice', '-8.01', 'often-2'))
  t.equal(await refusal(give('alice', '-8.01', 'often-2', approves)), 'TWO_PEOPLE_REQUIRED')
  await give('bob', '-8.01', 'often-2', approves)
  t.match(await give('alice', '8.00', 'often-3'), { replayed: false }, 'what two agreed to counts for nobody')
  const back = { playerId, transferId, reference: 'often-back', reason }
  await proposed(team('alice').call(reverseTransfer, { input: back }))
  await proposed(give('bob', '10.01', 'often-4'))
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

const scope = bed.scope()
const { brandId, operatorId, environment, currency } = scope
const seen = { operatorId, environment, currency }
const effectiveAt = '2026-03-02T12:00:00.000Z'
const alice = bed.team('alice')

/** A player of the sandbox, where one person may correct. */
async function player(amount?: string): Promise<string> {
  const playerId = newId('ply')
  await bed.rpc.call(openAccount, { scope, input: { playerId } })
  if (amount !== undefined)
    await bed.rpc.call(creditAccount, { scope, input: { playerId, depositId: newId('dep'), amount, effectiveAt } })
  return playerId
}

const available = async (playerId: string) => (await bed.rpc.call(getWallet, { scope, input: { playerId } })).available

const adjust = (input: { playerId: string; amount: string; reference: string }, reason = 'goodwill') =>
  alice.call(adjustWallet, { input: { reason, seen, ...input } })

const reverse = (input: { playerId: string; transferId: string; reference: string }) =>
  alice.call(reverseTransfer, { input: { reason: 'mistake', ...input } })

const trailOf = async (subject: string) =>
  (await alice.call(listAudit, { input: { subject, limit: 100 } })).data.filter(({ outcome }) => outcome === 'done')

t.test('an adjustment is done once per reference, twenty at once too', async (t) => {
  const playerId = await player()
  const input = { playerId, amount: '5.00', reference: 'ticket/2' }
  const posted = await Promise.all(Array.from({ length: 20 }, () => adjust(input)))
  const [first, ...more] = posted.filter(({ replayed }) => !replayed)
  t.same(more, [])
  t.same(await adjust(input), { ...first, replayed: true })
  t.equal(await available(playerId), '5.00')
  t.equal(await refusal(adjust({ ...input, amount: '5.01' })), 'TRANSFER_CONFLICT')
  t.equal(await refusal(adjust({ ...input, playerId: await player() })), 'TRANSFER_CONFLICT')
  t.equal(await refusal(adjust({ ...input, amount: '-5.00' })), 'TRANSFER_CONFLICT')
  t.equal((await trailOf(playerId)).length, 1)
})

t.test('an adjustment that the balance does not cover is refused for ever', async (t) => {
  const playerId = await player('1.00')
  const input = { playerId, amount: '-2.00', reference: 'ticket/3' }
  t.equal(await refusal(adjust(input)), 'INSUFFICIENT_FUNDS')
  await adjust({ playerId, amount: '5.00', reference: 'ticket/4' })
  t.equal(await refusal(adjust(input)), 'INSUFFICIENT_FUNDS')
  t.equal(await available(playerId), '6.00')
})

t.test('the team may not take a balance so far up that a deposit finds no room', async (t) => {
  const playerId = await player('5.00')
  const taken = await adjust({ playerId, amount: '-5.00', reference: 'ticket/taken' })
  const admin = await bed.sql('admin').connect()
  await admin.query("set session_replication_role = 'replica'")
  const posted = 'update wallet.account set posted = $2 where owner_id = $1'
  await admin.query(posted, [playerId, balanceByTeamMax - 100n])
  await t.rejects(adjust({ playerId, amount: '1.01', reference: 'ticket/full' }), {
    code: 'VALIDATION_ERROR',
    details: { in: 'body', issues: [{ path: '/amount' }] },
  })
  await t.rejects(reverse({ playerId, transferId: taken.transferId, reference: 'ticket/back' }), {
    code: 'VALIDATION_ERROR',
    details: { in: 'body', issues: [{ path: '/transferId' }] },
  })
  t.match(await adjust({ playerId, amount: '1.00', reference: 'ticket/full' }), { replayed: false })
  await bed.rpc.call(creditAccount, {
    scope,
    input: { playerId, depositId: newId('dep'), amount: '9999999999999.99', effectiveAt },
  })
  // The other tests sum the balances of this brand.
  await admin.query(posted, [playerId, 0])
  await admin.query("set session_replication_role = 'origin'")
  admin.release()
})

t.test('an adjustment needs a player, an amount that is not zero and a reference of its own kind', async (t) => {
  const playerId = await player()
  t.equal(await refusal(adjust({ playerId: 'ply_unknown', amount: '1.00', reference: 'a' })), 'PLAYER_NOT_FOUND')
  t.equal(await refusal(adjust({ playerId, amount: '0.00', reference: 'a' })), 'VALIDATION_ERROR')
  t.equal(await refusal(adjust({ playerId, amount: '1.001', reference: 'a' })), 'VALIDATION_ERROR')
  t.equal(await refusal(adjust({ playerId, amount: '1.00', reference: newId('dep') })), 'VALIDATION_ERROR')
})

t.test('a reversal takes a transfer back, once', async (t) => {
  const playerId = await player('10.00')
  const { data } = await bed.rpc.call(listTransactions, { scope, input: { playerId } })
  const item = data[0]?.id ?? ''
  const transferId = item.replace('led_', 'trf_')
  const reversal = await reverse({ playerId, transferId: item, reference: 'reversal/1' })
  t.match(reversal, {
    type: 'REVERSAL',
    amount: '-10.00',
    reversesTransferId: transferId,
    brandId,
    reference: { type: 'reversal', id: 'reversal/1' },
  })
  t.equal(await available(playerId), '0.00')
  t.same(await reverse({ playerId, transferId, reference: 'reversal/1' }), { ...reversal, replayed: true })
  t.equal(await refusal(reverse({ playerId, transferId: item, reference: 'reversal/2' })), 'TRANSFER_ALREADY_REVERSED')
  t.equal(
    await refusal(reverse({ playerId, transferId: 'trf_unknown', reference: 'reversal/3' })),
    'TRANSFER_NOT_FOUND',
  )
})

t.test('an adjustment and a reversal are entered in the brand of the record they name', async (t) => {
  const own = bed.scope({ brandId: newId('brd') })
  const playerId = newId('ply')
  const depositId = newId('dep')
  await bed.rpc.call(creditAccount, { scope: own, input: { playerId, depositId, amount: '10.00', effectiveAt } })
  // Both references are taken in another brand.
  const elsewhere = await player('10.00')
  const { transferId } = await adjust({ playerId: elsewhere, amount: '1.00', reference: 'brand/1' })
  await reverse({ playerId: elsewhere, transferId, reference: 'brand/2' })

  const adjusted = await adjust({ playerId, amount: '1.00', reference: 'brand/1' })
  const reversed = await reverse({ playerId, transferId: adjusted.transferId, reference: 'brand/2' })
  t.match(
    [adjusted, reversed],
    [
      { brandId: own.brandId, playerId, replayed: false },
      { brandId: own.brandId, playerId, replayed: false },
    ],
  )
})

t.test("a player's entries are listed newest first, filtered by type and time, page by page", async (t) => {
  const playerId = await player('10.00')
  const other = await player('20.00')
  for (const reference of ['filter/1', 'filter/2', 'filter/3']) await adjust({ playerId, amount: '-1.00', reference })
  await adjust({ playerId: other, amount: '-1.00', reference: 'filter/other' })
  const list = async (filter: object) => {
    const { data, nextCursor } = await alice.call(listEntries, { input: { playerId, limit: 2, ...filter } })
    return { references: data.map(({ reference }) => reference.id), nextCursor: nextCursor ?? undefined }
  }
  for (const filter of [{}, { type: 'ADJUSTMENT' }]) t.same((await list(filter)).references, ['filter/3', 'filter/2'])
  const { references, nextCursor } = await list({ type: 'ADJUSTMENT' })
  t.equal(references.length, 2)
  t.match(await list({ before: nextCursor }), { references: ['filter/1', /^dep_/] })
  t.same(await list({ type: 'ADJUSTMENT', before: nextCursor }), { references: ['filter/1'], nextCursor: undefined })
  t.equal((await list({ type: 'DEPOSIT' })).references.length, 1)
  t.match(await list({ amountFrom: '10.00' }), { references: [/^dep_/], nextCursor: undefined })
  t.same((await list({ amountFrom: '10.01' })).references, [])
  const { data } = await alice.call(listEntries, { input: { playerId, limit: 10 } })
  const [, second, third] = data
  const period = { from: third?.createdAt, to: second?.createdAt }
  t.ok((await list({ ...period, type: 'ADJUSTMENT' })).references.every((id) => id === 'filter/1'))
  t.same((await list({ to: '2020-01-01T00:00:00.000Z' })).references, [])
  for (const transferId of [third?.transferId, third?.id])
    t.same((await list({ transferId })).references, [third?.reference.id])
  const alone = { transferId: third?.id ?? '', limit: 1 }
  t.match(await alice.call(listEntries, { input: alone }), { data: [{ playerId, reference: third?.reference }] })
  t.equal(await refusal(alice.call(listEntries, { input: { limit: 1 } })), 'VALIDATION_ERROR')
  const unknown = alice.call(listEntries, { input: { limit: 1, transferId: 'trf_nothing' } })
  t.equal(await refusal(unknown), 'TRANSFER_NOT_FOUND')
  t.same((await list({ reference: 'filter/1' })).references, ['filter/1'])
  t.same((await list({ reference: 'filter/other' })).references, [], "another player's")
  const elsewhere = { playerId: other, transferId: third?.transferId ?? '', limit: 2 }
  t.same((await alice.call(listEntries, { input: elsewhere })).data, [])
})

t.test('a statement has every entry of the period once, and totals that add up', async (t) => {
  const own = bed.scope({ brandId: 'brd_statement' })
  for (const [index, amount] of ['10.00', '20.00', '30.00'].entries()) {
    const playerId = newId('ply')
    const credit = { playerId, depositId: newId('dep'), amount, effectiveAt }
    await bed.rpc.call(creditAccount, { scope: own, input: credit })
    const input = { playerId, amount: '-1.00', reference: `fee/${index}`, seen, reason: 'fee' }
    await alice.call(adjustWallet, { input })
  }
  const period = { brandId: own.brandId, from: '2020-01-01T00:00:00.000Z', to: secondsAgo(61) }
  const data = await allPages(async (cursor) => {
    const page = await exportPage({ ...period, limit: 4, ...defined({ cursor }) })
    t.same(page.totals, [
      {
        currency: 'BRL',
        openingBalance: '0.00',
        byType: [
          { type: 'ADJUSTMENT', entries: 3, amount: '-3.00' },
          { type: 'DEPOSIT', entries: 3, amount: '60.00' },
        ],
        entries: 6,
        net: '57.00',
        closingBalance: '57.00',
      },
    ])
    return page
  })
  t.equal(new Set(data.map(({ id }) => id)).size, 6)
  const later = await exportPage({ ...period, from: period.to, limit: 10 })
  t.same(later.data, [])
  t.match(later.totals, [{ openingBalance: '57.00', net: '0.00', closingBalance: '57.00' }])
})

t.test('a statement ends at least a minute ago, so that no entry commits behind its end', async (t) => {
  // Decided a moment ago, and not committed yet: the exports of today and tomorrow would both leave it out.
  const from = '2020-01-01T00:00:00.000Z'
  for (const to of [secondsAgo(-3_600), secondsAgo(0), secondsAgo(30)])
    await t.rejects(exportPage({ brandId, from, to, limit: 1 }), {
      code: 'VALIDATION_ERROR',
      details: { in: 'body', issues: [{ path: '/to' }] },
    })
  t.match(await exportPage({ brandId, from, to: secondsAgo(61), limit: 1 }), { totals: [{ currency: 'BRL' }] })
})

const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString()

const exportPage = (input: { brandId: string; from: string; to: string; limit: number; cursor?: string }) =>
  alice.call(exportStatement, { input })

t.test('reconciliation counts as the wallet does, to the millisecond', async (t) => {
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
  await proposed(give('alice', '0.01', dayMs - 1))
  const { transferId } = await give('alice', '11.00', dayMs)
  const back = { playerId, transferId, reference: 'counted-back', reason }
  await proposed(team('alice').call(reverseTransfer, { input: back }))
  await team('bob').call(reverseTransfer, { input: back })
  await time.set(null)
  const found = async (aloneUpTo: string) => {
    const team = { ...bed.issuer.team, aloneUpTo, payAloneUpTo: '0.00', maxWin: '0.00', rollOutMs: 0 }
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

t.test('a brand of which nothing is known counts as one in production', async (t) => {
  const { playerId } = await open('sandbox', 'ply_sandbox')
  const input = { playerId, amount: '500.00', reference: 'unknown', reason }
  const { transferId } = await team('alice').call(adjustWallet, { input })
  // A trigger keeps it otherwise.
  await bed
    .sql('admin')
    .query("begin; set local session_replication_role = 'replica'; delete from wallet.brand; commit")
  const back = { playerId, transferId, reference: 'unknown-back', reason }
  await proposed(team('alice').call(reverseTransfer, { input: back }))
  const more = { ...input, reference: 'unknown-more' }
  t.equal(await refusal(team('alice').call(adjustWallet, { input: more })), 'NOT_AS_SEEN', 'nobody says whose it is')
})
