import { operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { playerOf, refusal, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { Ledger } from '../../src/ledger/ledger.ts'
import type { Posting } from '../../src/ledger/posting.ts'
import { wallet } from '../../src/service.ts'
import * as books from '../ledger/books.ts'

const bed = await testBed(t, { wallet }, { config: { wallet: { PLAY_MAX_WIN: '500.00', DATABASE_POOL_MAX: 8 } } })
const { stake, readTransaction, listHeldRounds } = operations.wallet
const { creditAccount, openHold, readBalance, readAccount, listTransactions } = operations.wallet
const { db } = bed.services.wallet
/** As many replicas. */
const ledgers = [1, 2, 3].map(() => new Ledger({ db }))
const admin = bed.sql('admin')

/** A player with money, in a new brand unless it is said, and a provider. */
async function sit({ brandId = newId('brd'), provider = 'prv_1', playerId = newId('ply'), money = '100.00' } = {}) {
  const scope = { ...bed.scope({ brandId }), provider: { id: provider, bodyDigest: 'ab'.repeat(32) } }
  return {
    ...(await playerOf(bed, scope, { provider, playerId, money, roundId: 'r' })),
    ...{ scope, brandId, provider },
    read: (kind: 'bet' | 'win' | 'rollback', transactionId: string) =>
      bed.rpc.call(readTransaction, { scope, input: { kind, transactionId } }),
    rounds: (input: { roundId?: string; day?: string; cursor?: string }) =>
      bed.rpc.call(listHeldRounds, { scope, input }),
    items: async () => (await bed.rpc.call(listTransactions, { scope, input: { playerId, limit: 50 } })).data,
    balance: async () => (await bed.rpc.call(readBalance, { scope, input: { playerId } })).withdrawable,
    /** The same over any of three replicas. */
    post: (posting: Posting, replica = 0) =>
      (ledgers[replica % ledgers.length] as Ledger).post({ ...posting, brandId, playerId }),
  }
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)
const excluded = { code: 'RG_BLOCKED', details: '{"reason":"self_exclusion"}' }

t.test('a round is bet, won and closed, and the statement shows it', async (t) => {
  const { bet, win, items, read, rounds, scope, playerId } = await sit()
  const account = () => bed.rpc.call(readAccount, { scope, input: { playerId } })
  t.match(await bet('b1', '2.00'), { applied: true, replayed: false, roundState: 'open', balance: '98.00' })
  t.match(await account(), { openRounds: 1 })
  t.match(await win('w1', '0.00', { betTransactionId: 'b1' }), { applied: true, amount: '0.00', balance: '98.00' })
  t.match(await win('w2', '5.00', { roundEnds: true }), { roundState: 'closed', balance: '103.00' })
  t.match(await win('j1', '7.00', { kind: 'jackpot' }), { balance: '110.00' })
  const prize = await win('p1', '1.00', { kind: 'promotion', roundId: undefined, campaignId: 'autumn' })
  t.match(prize, { roundId: null, roundState: null, balance: '111.00' })
  t.match(await account(), { openRounds: 0 })
  const [promotion, jackpot, won, staked] = await items()
  t.match(promotion, { type: 'PROMOTION', reference: { type: 'promotion', id: prize.id } })
  t.match(jackpot, { type: 'JACKPOT', amount: '7.00', reference: { type: 'round', id: /^rnd_/ } })
  t.match(won, { type: 'WIN', amount: '5.00', reference: jackpot?.reference })
  t.match(staked, { type: 'BET', amount: '-2.00', balanceAfter: '98.00', reference: jackpot?.reference })
  t.match(await read('bet', 'b1'), { outcome: 'posted', rolledBack: false, amount: '2.00', roundState: 'closed' })
  t.equal(await refusal(read('rollback', 'b1')), 'TRANSACTION_NOT_FOUND')
  const { data } = await rounds({ roundId: 'r' })
  t.match(data, [{ roundId: 'r', playerId, state: 'closed', staked: '2.00', won: '12.00', rolledBack: '0.00' }])
  const others = await sit({ provider: 'prv_2' })
  await others.bet('b1', '2.00')
  const [theirs] = await others.items()
  for (const [whose, cursor] of [
    [rounds, theirs?.reference.id],
    [others.rounds, jackpot?.reference.id],
  ] as const)
    t.equal(
      await refusal(whose({ roundId: 'r', cursor: cursor ?? '' })),
      'VALIDATION_ERROR',
      'a place of somebody else',
    )
  t.same((await rounds({ roundId: 'r', cursor: jackpot?.reference.id ?? '' })).data, [])
})

t.test('a spin is a bet, its win and the end of the round, or none of it', async (t) => {
  const { bet, balance, read, rollback } = await sit()
  const won = { win: '10.00', roundId: 's' }
  t.match(await bet('s1', '4.00', won), { roundState: 'closed', win: '10.00', balanceAfter: '106.00' })
  t.match(await bet('s1', '4.00', won), { replayed: true, win: '10.00', balanceAfter: '106.00' })
  t.equal(await refusal(bet('s1', '4.00', { ...won, win: '11.00' })), 'TRANSACTION_CONFLICT')
  t.match(await bet('s2', '4.00', { win: '0.00', roundId: 's2' }), { win: '0.00', balance: '102.00' })
  t.equal(await refusal(bet('s3', '4.00', { win: '500.01', roundId: 's3' })), 'WIN_HELD')
  t.equal(await refusal(read('bet', 's3')), 'TRANSACTION_NOT_FOUND', 'its stake is not taken')
  t.equal(await refusal(rollback('x', 's1', { roundId: 's' })), 'BET_ALREADY_SETTLED', 'B33')
  t.equal(await balance(), '102.00')
})

t.test('B9, B10, B11 the same ids of two providers, in two brands, of two kinds are apart', async (t) => {
  const one = await sit()
  const other = await sit({ brandId: one.brandId, playerId: one.playerId, provider: 'prv_2', money: '0.00' })
  const elsewhere = await sit()
  for (const seat of [one, other, elsewhere]) t.match(await seat.bet('b', '2.00'), { replayed: false })
  t.match(await one.win('b', '3.00'), { replayed: false, balance: '99.00' })
  t.match(await other.rollback('b', 'b'), { applied: true, balance: '101.00' })
  t.match(await one.read('rollback', 'b').catch(({ code }) => code), 'TRANSACTION_NOT_FOUND')
})

t.test('B12 two hundred players of one live round have a round each', async (t) => {
  const brandId = newId('brd')
  const seats = await Promise.all(numbers(200).map(() => sit({ brandId })))
  await Promise.all(seats.map(({ bet }, index) => bet(`b${index}`, '2.00')))
  await Promise.all(seats.map(({ win }, index) => win(`w${index}`, '3.00', { roundEnds: index % 2 === 0 })))
  const [first] = seats
  const page = await first?.rounds({ roundId: 'r' })
  t.equal(page?.data.length, 200)
  t.equal(page?.data.filter(({ state, won }) => state === 'closed' && won === '3.00').length, 100)
  t.equal(new Set(page?.data.map(({ playerId }) => playerId)).size, 200)
})

t.test(
  'B13-B17 an id that was used for something else is a conflict, and the currency is that of the player',
  async (t) => {
    const { bet, win, brandId, balance } = await sit()
    const other = await sit({ brandId })
    await bet('b', '2.00')
    await win('w', '1.00')
    const otherwise = [
      { amount: '2.01' },
      { roundId: 'r2' },
      { gameId: 'dice' },
      { sessionId: 'ses_2' },
      { roundEnds: true },
    ]
    for (const own of otherwise) t.equal(await refusal(bet('b', '2.00', own)), 'TRANSACTION_CONFLICT')
    t.equal(await refusal(other.bet('b', '2.00')), 'TRANSACTION_CONFLICT')
    t.equal(await refusal(other.win('w', '1.00')), 'TRANSACTION_CONFLICT')
    for (const own of [
      { amount: '1.01' },
      { kind: 'jackpot' as const },
      { betTransactionId: 'b' },
      { campaignId: 'c' },
    ])
      t.equal(await refusal(win('w', '1.00', own)), 'TRANSACTION_CONFLICT')
    t.same(
      await bed.rpc
        .call(stake, { scope: { ...other.scope }, input: stakeIn('USD', other.playerId) })
        .catch((e) => e.details),
      {
        expected: 'BRL',
        received: 'USD',
      },
    )
    t.match(await bet('b', '2.00', { providerTime: '2026-03-02T12:00:00.000Z' }), { replayed: true })
    t.equal(await balance(), '99.00')
  },
)

const stakeIn = (currency: string, playerId: string) => ({
  bet: { transactionId: 'c', playerId, roundId: 'r', gameId: 'g', sessionId: 's', amount: '1.00', currency },
  standing: null,
})

t.test('a player whom nobody knows is not found, and no account is opened', async (t) => {
  const { scope } = await sit()
  const playerId = newId('ply')
  t.equal(await refusal(bed.rpc.call(stake, { scope, input: stakeIn('BRL', playerId) })), 'PLAYER_NOT_FOUND')
  t.equal(await refusal(bed.rpc.call(readBalance, { scope, input: { playerId } })), 'PLAYER_NOT_FOUND')
})

/** How many of many outcomes moved something. */
const applied = (outcomes: readonly { readonly outcome: string; readonly replayed?: boolean }[]) =>
  outcomes.filter(({ outcome, replayed }) => outcome === 'play' && replayed === false).length

t.test('B18, B19, B20 of a thousand copies at once over three replicas one takes effect', async (t) => {
  const { post, playerId, balance } = await sit()
  const copies = (of: (playerId: string) => Posting) =>
    Promise.all(numbers(1_000).map((index) => post(of(playerId), index)))
  t.equal(applied(await copies((player) => books.bet(player, 'b', 200n))), 1)
  t.equal(await balance(), '98.00')
  t.equal(applied(await copies((player) => books.win(player, 'w', 500n, { betTransactionId: 'a' }))), 0)
  t.equal(applied(await copies((player) => books.bet(player, 'a', 100n))), 1)
  t.equal(applied(await copies((player) => books.win(player, 'w', 500n, { betTransactionId: 'a' }))), 1)
  t.equal(await balance(), '102.00')
  t.equal(applied(await copies((player) => books.rollback(player, 'x', 'b'))), 1)
  t.equal(await balance(), '104.00')
})

t.test('B21 a bet and its rollback at once end at zero, whichever comes first', async (t) => {
  const { post, playerId, balance } = await sit()
  const races = await Promise.all(
    numbers(300).map(async (index) => {
      const own = { providerRoundId: `r${index}` }
      const [bet, back] = [
        books.bet(playerId, `b${index}`, 10n, own),
        books.rollback(playerId, `b${index}`, `b${index}`, own),
      ]
      const order = index % 2 === 0 ? [bet, back] : [back, bet]
      return Promise.all(order.map((posting, place) => post(posting, index + place)))
    }),
  )
  t.equal(await balance(), '100.00')
  const firsts = races.flat().filter((one) => one.outcome === 'play' && one.play.kind === 'bet').length
  t.ok(firsts > 0 && firsts < 300, `of 300 bets ${firsts} came first`)
})

t.test('B22 a bet and a withdrawal for the last cent: one of them gets it', async (t) => {
  for (const index of numbers(20)) {
    const { bet, scope, playerId } = await sit({ money: '1.00' })
    const held = bed.rpc.call(openHold, { scope, input: { playerId, withdrawalId: newId('wdr'), amount: '1.00' } })
    const outcomes = await Promise.all([refusal(bet(`b${index}`, '1.00')), refusal(held)])
    t.same([...outcomes].sort(), ['INSUFFICIENT_FUNDS', null].sort())
  }
})

t.test('what a withdrawal holds cannot be staked, and a win may be', async (t) => {
  const { bet, win, scope, playerId } = await sit({ money: '10.00' })
  await bed.rpc.call(openHold, { scope, input: { playerId, withdrawalId: newId('wdr'), amount: '6.00' } })
  const refused = await bet('b', '4.01').catch(({ code, details }) => ({ code, details }))
  t.same(refused, { code: 'INSUFFICIENT_FUNDS', details: { balance: '4.00' } })
  t.match(await bet('c', '4.00'), { balance: '0.00' })
  t.match(await win('w', '1.00'), { balance: '1.00', balanceAfter: '1.00' })
})

t.test('B25 a booked bet is answered as it was, though its player is excluded since', async (t) => {
  const { bet, win, rollback, close } = await sit()
  await bet('b', '2.00')
  t.match(await bet('b', '2.00', { refusedWith: excluded }), { replayed: true, applied: true })
  const refused = await bet('c', '2.00', { refusedWith: excluded }).catch(({ code, details }) => ({ code, details }))
  t.same(refused, { code: 'RG_BLOCKED', details: { reason: 'self_exclusion' } })
  t.match(await win('w', '1.00', { betTransactionId: 'b' }), { applied: true })
  t.match(await rollback('x', 'c'), { applied: false })
  t.match(await close(), { roundState: 'closed' })
})

t.test('B26 a refused bet stays refused, whatever holds since, and its details with it', async (t) => {
  const { bet, scope, playerId, read } = await sit({ money: '1.00' })
  t.equal(await refusal(bet('b', '2.00')), 'INSUFFICIENT_FUNDS')
  t.equal(await refusal(bet('c', '1.00', { refusedWith: excluded })), 'RG_BLOCKED')
  const deposit = { playerId, depositId: newId('dep'), amount: '50.00', effectiveAt: new Date().toISOString() }
  await bed.rpc.call(creditAccount, { scope, input: deposit })
  const again = await bet('b', '2.00').catch(({ code, details }) => ({ code, details }))
  t.same(again, { code: 'INSUFFICIENT_FUNDS', details: { balance: '51.00' } }, 'with the balance of now')
  t.equal(await refusal(bet('c', '1.00')), 'RG_BLOCKED')
  t.match(await read('bet', 'c'), { outcome: 'refused', code: 'RG_BLOCKED', amount: '0.00', roundId: 'r' })
})

t.test('B27, B28, B29, B30 what was rolled back before it came is never taken, nor won', async (t) => {
  const { bet, win, rollback, balance, read } = await sit()
  t.match(await rollback('x', 'b'), { applied: false, replayed: false, amount: '0.00', roundState: null })
  t.equal(await refusal(bet('b', '2.00')), 'TRANSACTION_ROLLED_BACK')
  t.match(await read('bet', 'b'), { outcome: 'voided', rolledBack: false, amount: '0.00' })
  t.equal(await refusal(win('w', '1.00', { betTransactionId: 'b' })), 'ROUND_VOIDED')
  t.equal(await refusal(win('v', '1.00')), 'ROUND_VOIDED')
  t.equal(await refusal(bet('c', '2.00', { roundId: 'q', refusedWith: excluded })), 'RG_BLOCKED')
  t.match(await rollback('y', 'c', { roundId: 'q' }), { applied: false })
  t.equal(await refusal(win('u', '1.00', { roundId: 'q' })), 'BET_REFUSED')
  await bet('d', '2.00', { roundId: 'p' })
  t.match(await rollback('z', 'd', { roundId: 'p' }), { applied: true, balance: '100.00', roundState: 'void' })
  t.match(await rollback('z2', 'd', { roundId: 'p' }), { applied: false, roundState: 'void' })
  t.match(await rollback('z', 'd', { roundId: 'p' }), { applied: true, replayed: true, amount: '2.00' })
  t.equal(await balance(), '100.00')
})

t.test('B31, B32 a win settles the bet that it names, and no other', async (t) => {
  const { bet, win, rollback } = await sit()
  await bet('b', '2.00')
  await bet('c', '3.00')
  await win('w', '1.00', { betTransactionId: 'b' })
  const settled = await rollback('x', 'b').catch(({ code, details }) => ({ code, details }))
  const result = { roundState: 'open', winTransactionId: 'w', won: '1.00' }
  t.same(settled, { code: 'BET_ALREADY_SETTLED', details: { result } })
  t.match(await rollback('y', 'c'), { applied: true, roundState: 'open', balance: '99.00' })
  t.equal(await refusal(rollback('z', 'w')), 'NOT_A_BET')
})

t.test('B37, B39, B40 a late win is paid; zero is an amount, and a part of a cent is none', async (t) => {
  const { bet, win, close } = await sit()
  await bet('b', '2.00')
  await close()
  t.match(await win('w', '0.00'), { amount: '0.00', roundState: 'closed' })
  t.equal(await refusal(win('w', '1.00')), 'TRANSACTION_CONFLICT')
  t.match(await win('v', '1.00'), { amount: '1.00', roundState: 'closed', balance: '99.00' })
  for (const amount of ['0.005', '1e2', '-1.00', '01.00', '1,00', '', '.5'])
    t.equal(await refusal(win('u', amount)), 'VALIDATION_ERROR', `an amount of ${amount}`)
  t.equal(await refusal(bet('z', '0.00', { roundId: 'q' })), 'VALIDATION_ERROR')
  t.equal(await refusal(bet('z', '1.00', { roundId: 'q', freeRound: true })), 'VALIDATION_ERROR')
  t.match(await bet('z', '0.00', { roundId: 'q', freeRound: true }), { amount: '0.00', roundState: 'open' })
  t.equal(await refusal(win('n', '1.00', { roundId: undefined })), 'VALIDATION_ERROR')
})

t.test(
  'B38 a win is paid to a balance that no correction may reach, and to one that is full it is a fault',
  async (t) => {
    const { post, bet, win, playerId, balance } = await sit({ money: '2.00' })
    await post(books.credit(playerId, 'd', 2n ** 62n))
    await bet('b', '2.00')
    t.match(await win('w', '499.00'), { applied: true })
    await post(books.credit(playerId, 'e', 2n ** 63n - 1n - 2n ** 62n - 49_900n - 10n))
    const before = await balance()
    t.match(await post(books.win(playerId, 'v', 11n)), { outcome: 'fault' })
    t.equal(await balance(), before)
    await post(books.debit(playerId, 'a', 1n))
    t.match(await post(books.win(playerId, 'v', 11n)), { outcome: 'play', replayed: false }, 'it was not kept')
  },
)

t.test('B42 a thousand plays in a round', async (t) => {
  const { post, playerId, balance, rounds } = await sit()
  await Promise.all(numbers(500).map((index) => post(books.bet(playerId, `b${index}`, 10n), index)))
  t.equal(await balance(), '50.00')
  const answers = numbers(500).map((index) => {
    const betTransactionId = `b${index}`
    const won = books.win(playerId, `w${index}`, 10n, { betTransactionId })
    return post(index % 2 === 0 ? won : books.rollback(playerId, `x${index}`, betTransactionId), index)
  })
  t.equal(applied(await Promise.all(answers)), 500)
  t.equal(await balance(), '100.00')
  t.match((await rounds({ roundId: 'r' })).data, [
    { staked: '50.00', won: '25.00', rolledBack: '25.00', state: 'open' },
  ])
})

t.test('a provider reads the rounds of a day, a page at a time, and no others', async (t) => {
  const { bet, rounds, brandId } = await sit()
  const other = await sit({ brandId, provider: 'prv_2' })
  for (const index of numbers(3)) await bet(`b${index}`, '1.00', { roundId: `r${index}` })
  await other.bet('b', '1.00', { roundId: 'theirs' })
  const { rows } = await admin.query(
    `select to_char(now() at time zone time_zone, 'YYYY-MM-DD') as day from wallet.brand where id = $1`,
    [brandId],
  )
  const { data } = await rounds({ day: rows[0].day })
  t.same(
    data.map(({ roundId }) => roundId),
    ['r0', 'r1', 'r2'],
  )
  t.equal(await refusal(rounds({})), 'VALIDATION_ERROR')
  t.equal(await refusal(rounds({ day: rows[0].day, roundId: 'r' })), 'VALIDATION_ERROR')
  t.equal(await refusal(rounds({ day: rows[0].day, cursor: 'rnd_none' })), 'VALIDATION_ERROR')
})
