import { defined, type Input, operations, seenOf } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { allPages, playerOf, proposalOf, refusal, testBed } from '@backoffice/test-kit'
import fc from 'fast-check'
import t from 'tap'
import { wallet } from '../../src/service.ts'

const bed = await testBed(
  t,
  { wallet },
  { config: { wallet: { PLAY_MAX_WIN: '500.00', CORRECT_ALONE_UP_TO: '1000.00' } } },
)
const { readBalance } = operations.wallet
const { voidRound, endRound, listRounds, listHeldWins, releaseWin, setWinLimit, listWinLimits } = operations.wallet
const { reverseTransfer, listEntries, listAudit } = operations.wallet
const [alice, bob] = [bed.team('alice'), bed.team('bob')]
const reason = 'the game server was lost'

/** A player of a new brand, and a provider of games that nobody else has. */
async function sit(environment: 'sandbox' | 'production' = 'sandbox') {
  const provider = newId('prv')
  const scope = bed.scope({ environment, brandId: newId('brd') })
  const player = await playerOf(bed, scope, { provider })
  const { playerId } = player
  const round = async () => {
    const [found] = (await alice.call(listRounds, { input: { playerId, limit: 1 } })).data
    if (found === undefined) throw new Error('there is no round')
    return found
  }
  return {
    ...player,
    ...{ brandId: scope.brandId, providerId: provider },
    balance: async () => (await bed.rpc.call(readBalance, { scope, input: { playerId } })).withdrawable,
    round,
    async seen() {
      const shown = await round()
      return { roundId: shown.id, seen: seenOf(voidRound, shown), reason }
    },
  }
}

t.test('the team voids a round: every stake that stands is given back, by a rollback of its own', async (t) => {
  const { bet, rollback, win, balance, seen, round, playerId } = await sit()
  for (const [id, amount] of [
    ['a', '1.00'],
    ['b', '2.00'],
    ['c', '4.00'],
  ] as const)
    await bet(id, amount)
  await bet('free', '0.00', { freeRound: true })
  await rollback('x', 'a')
  const input = await seen()
  t.match(await alice.call(voidRound, { input }), {
    state: 'void',
    closedBy: 'team',
    staked: '7.00',
    rolledBack: '7.00',
    won: '0.00',
  })
  t.equal(await balance(), '1000.00')
  const { data } = await alice.call(listEntries, { input: { playerId, reference: (await round()).id, limit: 10 } })
  t.same(data.map(({ type, amount }) => `${type} ${amount}`).sort(), [
    'BET -1.00',
    'BET -2.00',
    'BET -4.00',
    'ROLLBACK 1.00',
    'ROLLBACK 2.00',
    'ROLLBACK 4.00',
  ])
  const [audited] = (await alice.call(listAudit, { input: { subject: input.roundId, limit: 10 } })).data
  t.match(audited, { operation: 'voidRound', reason, changes: [{ field: 'state', before: 'open', after: 'void' }] })
  t.equal(await refusal(win('w', '1.00')), 'ROUND_VOIDED', 'B36')
  t.match(await rollback('y', 'b'), { applied: false }, 'B34')
  t.equal(await refusal(bet('d', '1.00')), 'ROUND_VOIDED')
  t.equal(await refusal(alice.call(voidRound, { input })), 'NOT_AS_SEEN')
  const now = { ...input, seen: { ...input.seen, state: 'void' as const } }
  t.equal(await refusal(alice.call(voidRound, { input: now })), 'ROUND_NOT_OPEN')
  t.equal(await refusal(alice.call(endRound, { input: now })), 'ROUND_NOT_OPEN')
})

t.test('what was won is not void; the team closes it, and what is late is paid', async (t) => {
  const { bet, win, balance, seen, rollback } = await sit()
  await bet('b', '2.00')
  await win('w', '0.00')
  t.equal(await refusal(alice.call(voidRound, { input: await seen() })), 'ROUND_HAS_WINS')
  const { roundId } = await seen()
  t.equal(
    await refusal(alice.call(endRound, { input: { ...(await seen()), roundId: newId('rnd') } })),
    'ROUND_NOT_FOUND',
  )
  const before = await seen()
  await bet('c', '1.00')
  t.equal(await refusal(alice.call(endRound, { input: before })), 'NOT_AS_SEEN')
  t.match(await alice.call(endRound, { input: await seen() }), { id: roundId, state: 'closed', closedBy: 'team' })
  t.equal(await refusal(rollback('x', 'b')), 'BET_ALREADY_SETTLED')
  t.match(await win('v', '3.00'), { roundState: 'closed' })
  t.equal(await balance(), '1000.00')
})

t.test('in production it takes two people, and a bet that comes in between is seen', async (t) => {
  const { bet, seen, balance } = await sit('production')
  await bet('b', '2.00')
  const input = await seen()
  const { proposalId: approves } = await proposalOf(alice.call(voidRound, { input }))
  t.equal(await refusal(alice.call(voidRound, { input, approves })), 'TWO_PEOPLE_REQUIRED')
  await bet('c', '1.00')
  t.equal(await refusal(bob.call(voidRound, { input, approves })), 'NOT_AS_SEEN')
  const now = await seen()
  const again = await proposalOf(alice.call(voidRound, { input: now }))
  t.match(await bob.call(voidRound, { input: now, approves: again.proposalId }), { state: 'void' })
  t.equal(await balance(), '1000.00')
})

t.test('B34 the team voids while the provider rolls back: each stake comes back once', async (t) => {
  for (let race = 0; race < 6; race++) {
    const { bet, rollback, seen, balance, round } = await sit()
    await Promise.all(['a', 'b', 'c'].map((id) => bet(id, '3.00')))
    const input = await seen()
    await Promise.all([
      refusal(alice.call(voidRound, { input })),
      ...['a', 'b', 'c'].map((id) => rollback(`x${id}`, id)),
    ])
    t.match(await round(), { state: 'void', staked: '9.00', rolledBack: '9.00' })
    t.equal(await balance(), '1000.00')
  }
})

t.test('B35 a stake that the team reversed is not rolled back, and its round is void', async (t) => {
  const { bet, rollback, win, playerId, balance, round } = await sit()
  await bet('b', '2.00')
  const [entry] = (await alice.call(listEntries, { input: { playerId, limit: 1 } })).data
  if (entry === undefined) throw new Error('there is no entry')
  const input = {
    playerId,
    transferId: entry.transferId,
    seen: seenOf(reverseTransfer, entry),
    reference: 'back',
    reason,
  }
  await alice.call(reverseTransfer, { input })
  t.match(await round(), { state: 'void', closedBy: 'team' })
  t.match(await rollback('x', 'b'), { applied: false, roundState: 'void' })
  t.equal(await refusal(bet('b', '2.00')), 'TRANSACTION_ROLLED_BACK')
  t.equal(await refusal(win('w', '1.00', { betTransactionId: 'b' })), 'ROUND_VOIDED')
  t.equal(await balance(), '1000.00')
})

t.test('a win above the limit waits for two people, and is paid when it comes again', async (t) => {
  const { bet, win, balance, providerId, brandId, playerId } = await sit('production')
  await bet('b', '2.00')
  const send = () => win('w', '500.01')
  t.equal(await refusal(send()), 'WIN_HELD')
  t.equal(await refusal(send()), 'WIN_HELD')
  t.equal(await refusal(win('w', '600.00')), 'TRANSACTION_CONFLICT')
  const held = (await alice.call(listHeldWins, { input: { limit: 1000 } })).data.find(
    (one) => one.providerId === providerId,
  )
  t.match(held, { transactionId: 'w', playerId, amount: '500.01', currency: 'BRL', roundId: 'r', releasedAt: null })
  const key = { providerId, brandId, transactionId: 'w', reason }
  const input = { ...key, seen: { playerId, amount: '500.01', currency: 'BRL' } }
  t.equal(await refusal(alice.call(releaseWin, { input: { ...input, transactionId: 'v' } })), 'HELD_WIN_NOT_FOUND')
  t.equal(
    await refusal(alice.call(releaseWin, { input: { ...input, seen: { ...input.seen, amount: '5.00' } } })),
    'NOT_AS_SEEN',
  )
  const { proposalId: approves } = await proposalOf(alice.call(releaseWin, { input }))
  t.equal(await refusal(send()), 'WIN_HELD')
  t.match(await bob.call(releaseWin, { input, approves }), { transactionId: 'w' })
  t.match(await send(), { amount: '500.01', balance: '1498.01', replayed: false })
  t.match(await send(), { replayed: true })
  t.equal(await refusal(bob.call(releaseWin, { input })), 'HELD_WIN_NOT_FOUND')
  t.equal(await balance(), '1498.01')
})

t.test(
  'a win that waits keeps its id for itself: whatever else comes under it is a conflict, and books nothing',
  async (t) => {
    const cents = fc.integer({ min: 0, max: 100_000 }).map((minor) => (minor / 100).toFixed(2))
    // No money, and the limit itself, are what nobody looks at.
    const amounts = fc.oneof(fc.constantFrom('0.00', '0.01', '500.00', '500.01'), cents)
    await fc.assert(
      fc.asyncProperty(amounts, fc.boolean(), fc.boolean(), async (amount, isSpin, isReleased) => {
        const { bet, win, balance, providerId, brandId, playerId } = await sit('production')
        await bet('b', '2.00')
        const send = (paid: string, roundId = 'round-1') =>
          isSpin ? bet('w', '1.00', { win: paid, roundId: `spin-${roundId}` }) : win('w', paid, { roundId })
        t.equal(await refusal(send('500.01')), 'WIN_HELD')
        const seen = { playerId, amount: '500.01', currency: 'BRL' }
        if (isReleased)
          await bed.agreed(releaseWin, { input: { providerId, brandId, transactionId: 'w', seen, reason } })
        if (amount !== '500.01') t.equal(await refusal(send(amount)), 'TRANSACTION_CONFLICT', amount)
        t.equal(await refusal(send('500.01', 'another')), 'TRANSACTION_CONFLICT', 'of another round')
        t.equal(await balance(), '998.00')
        t.equal(await refusal(send('500.01')), isReleased ? null : 'WIN_HELD', 'and itself is what it was')
      }),
      {
        numRuns: 12,
        examples: [
          ['0.00', false, false],
          ['0.00', true, true],
        ],
      },
    )
  },
)

t.test('the limit of a provider in a brand is raised by two people and lowered by one', async (t) => {
  const { bet, win, providerId, brandId } = await sit('production')
  await bet('b', '2.00')
  const set = (maxWin: string, seen: string): Input<typeof setWinLimit> => ({
    providerId,
    brandId,
    maxWin,
    seen: { maxWin: seen },
    reason,
  })
  t.equal(await refusal(alice.call(setWinLimit, { input: set('900.00', '400.00') })), 'NOT_AS_SEEN')
  t.match(await alice.call(setWinLimit, { input: set('10.00', '500.00') }), { maxWin: '10.00' })
  t.equal(await refusal(win('w', '10.01')), 'WIN_HELD')
  const raised = set('20', '10.00')
  const { proposalId: approves } = await proposalOf(alice.call(setWinLimit, { input: raised }))
  await bob.call(setWinLimit, { input: raised, approves })
  const limitsOf = (asked: object) => alice.call(listWinLimits, { input: { limit: 1, ...asked } })
  t.match(await limitsOf({ providerId, brandId }), {
    ...{ data: [{ brandId, maxWin: '20.00' }], otherwise: '500.00', nextCursor: null },
  })
  t.same((await limitsOf({ providerId, brandId: 'brd_other' })).data, [])
  await bed.sql('wallet').query("insert into win_limit values ($1, 'brd_a', 1), ($1, 'brd_b', 2)", [providerId])
  const limits = await allPages((cursor) => limitsOf({ providerId, ...defined({ cursor }) }))
  const brands = limits.map((one) => one.brandId)
  t.same(brands, ['brd_a', 'brd_b', brandId].sort(), 'page by page, however many there are')
  t.match(await win('w', '10.01'), { replayed: false })
  const waiting = (await alice.call(listHeldWins, { input: { limit: 1000 } })).data
  t.notOk(
    waiting.some((one) => one.providerId === providerId),
    'what was paid waits no more',
  )
})

t.test('held wins are listed page by page', async (t) => {
  const { bet, win, providerId } = await sit()
  await bet('b', '2.00')
  for (const id of ['v/1', 'w/2', 'x']) await refusal(win(id, '501.00'))
  const all = await allPages((cursor) => alice.call(listHeldWins, { input: { limit: 1, ...defined({ cursor }) } }))
  const own = all.filter((one) => one.providerId === providerId)
  t.same(
    own.map(({ transactionId }) => transactionId),
    ['v/1', 'w/2', 'x'],
  )
  t.equal(await refusal(alice.call(listHeldWins, { input: { limit: 1, cursor: 'none' } })), 'VALIDATION_ERROR')
})
