import { randomUUID } from 'node:crypto'
import { defined, type Input, operations, type TeamPlay } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { allPages, playerOf, refusal, TestTime, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { unsettledPlay } from '../../src/measurements.ts'
import { wallet } from '../../src/service.ts'

const time = new TestTime(new Date('2026-03-02T12:00:00.000Z'))
const hourMs = 3_600_000
const bed = await testBed(t, { wallet }, { time, config: { wallet: { PLAY_DAYS_EVERY_MS: hourMs } } })
const alice = bed.team('alice')
const { listRounds, recallRound, listPlays, countOpenRounds, listEntries, reverseTransfer } = operations.wallet

/** A brand of its own. */
const newBrand = () => bed.scope({ operatorId: newId('op'), brandId: newId('brd') })
const list = (input: Omit<Input<typeof listRounds>, 'limit'>) =>
  alice.call(listRounds, { input: { limit: 100, ...input } })
const recall = (roundId: string) => alice.call(recallRound, { input: { roundId, limit: 1000 } })

t.test('a round is found by whatever names it, and by nothing of another brand, provider or player', async (t) => {
  const [brand, other] = [newBrand(), newBrand()]
  // One live table: all send the same ids.
  const ids = { roundId: `live-${randomUUID()}`, transactionId: `bet-${randomUUID()}` }
  const [ana, bia] = [await playerOf(bed, brand), await playerOf(bed, brand)]
  const [elsewhere, foreign] = [await playerOf(bed, other), await playerOf(bed, brand, { provider: 'prv_two' })]
  const { id: playId } = await ana.bet(ids.transactionId, '2.00', { roundId: ids.roundId })
  await bia.bet(`${ids.transactionId}-bia`, '3.00', { roundId: ids.roundId })
  await elsewhere.bet(ids.transactionId, '4.00', { roundId: ids.roundId })
  await foreign.bet(ids.transactionId, '5.00', { roundId: ids.roundId })
  const { transactionId: winId } = await ana.win(`win-${randomUUID()}`, '1.00', { roundId: ids.roundId })
  await ana.close(ids.roundId)
  const late = `late-${randomUUID()}`
  t.equal(await refusal(ana.bet(late, '1.00', { roundId: ids.roundId })), 'ROUND_CLOSED')

  const shared = await list({ roundId: ids.roundId })
  t.equal(shared.data.length, 4)
  t.equal((await list({ roundId: ids.roundId, brandId: brand.brandId })).data.length, 3)
  t.equal((await list({ roundId: ids.roundId, brandId: brand.brandId, providerId: 'prv_two' })).data.length, 1)
  t.equal((await list({ transactionId: ids.transactionId })).data.length, 3)
  const [round] = (await list({ roundId: ids.roundId, playerId: ana.playerId })).data
  t.match(round, {
    roundId: ids.roundId,
    playerId: ana.playerId,
    brandId: brand.brandId,
    providerId: 'prv_one',
    gameId: 'wallet-reels',
    state: 'closed',
    closedBy: 'close',
    currency: 'BRL',
    staked: '2.00',
    won: '1.00',
    rolledBack: '0.00',
    openedAt: '2026-03-02T12:00:00.000Z',
  })
  const { data: entries } = await alice.call(listEntries, { input: { playerId: ana.playerId, limit: 10 } })
  const [win, bet] = entries
  for (const input of [
    { roundId: round?.id },
    { transactionId: playId },
    { transactionId: winId },
    // Refused, and yet about this round.
    { transactionId: late },
    { entryId: bet?.id },
    { entryId: win?.transferId },
    { playerId: ana.playerId },
    { playerId: ana.playerId, state: 'closed' as const },
    { playerId: ana.playerId, roundId: ids.roundId, transactionId: ids.transactionId, entryId: bet?.id },
  ])
    t.same((await list(input as object)).data, [round], JSON.stringify(input))
  for (const input of [
    { roundId: 'rnd_unknown' },
    { transactionId: 'pla_unknown' },
    { entryId: 'led_unknown' },
    // A deposit.
    { entryId: entries[2]?.id },
    { playerId: 'ply_unknown' },
    { playerId: ana.playerId, state: 'open' as const },
    { playerId: ana.playerId, openedBefore: '2026-03-02T12:00:00.000Z' },
    { roundId: ids.roundId, playerId: ana.playerId, entryId: 'led_unknown' },
    { transactionId: playId, brandId: other.brandId },
    { brandId: brand.brandId, providerId: 'prv_three' },
  ])
    t.same((await list(input as object)).data, [], JSON.stringify(input))
})

t.test('a correction of the team is found with the round whose stake it gives back', async (t) => {
  const ana = await playerOf(bed, newBrand())
  await ana.bet(randomUUID(), '2.00')
  const [round] = (await list({ playerId: ana.playerId })).data
  const [bet] = (await alice.call(listEntries, { input: { playerId: ana.playerId, limit: 1 } })).data
  const { id } = await bed.agreed(reverseTransfer, {
    input: { playerId: ana.playerId, transferId: bet?.id ?? '', reference: randomUUID(), reason: 'a test' } as never,
  })
  t.same(
    (await list({ entryId: id })).data.map((one) => one.id),
    [round?.id],
  )
  const { data } = await recall(round?.id ?? '')
  t.match(data, [{ kind: 'bet', rolledBack: true, amount: '2.00' }])
})

t.test('rounds are listed newest first, by each filter in pages', async (t) => {
  const brand = newBrand()
  const [ana, bia] = [await playerOf(bed, brand), await playerOf(bed, brand, { provider: 'prv_two' })]
  for (let n = 0; n < 6; n++) {
    // Two of a time.
    await time.set(new Date(Date.parse('2026-03-02T13:00:00.000Z') + Math.floor(n / 2)))
    for (const player of [ana, bia]) await player.bet(`${n}`, '1.00', { roundId: `round-${n}`, roundEnds: n % 3 === 0 })
  }
  for (const one of [ana, bia]) for (const n of [1, 4]) await one.rollback(`${n}`, `${n}`, { roundId: `round-${n}` })
  const { brandId } = brand
  for (const [filter, states] of [
    [
      { brandId },
      ['open', 'open', 'void', 'void', 'closed', 'closed', 'open', 'open', 'void', 'void', 'closed', 'closed'],
    ],
    [{ playerId: ana.playerId }, ['open', 'void', 'closed', 'open', 'void', 'closed']],
    [{ brandId, providerId: 'prv_two' }, ['open', 'void', 'closed', 'open', 'void', 'closed']],
    [{ brandId, state: 'open' }, Array(4).fill('open')],
    [{ brandId, state: 'void' }, Array(4).fill('void')],
    [{ brandId, state: 'closed' }, Array(4).fill('closed')],
    [
      { brandId, openedBefore: '2026-03-02T13:00:00.001Z' },
      ['open', 'open', 'void', 'void'].toReversed().with(3, 'closed').with(2, 'closed'),
    ],
  ] as const) {
    const whole = await list(filter)
    t.same(whole.data.map(({ state }) => state).toSorted(), states.toSorted(), JSON.stringify(filter))
    const places = whole.data.map(({ openedAt, id }) => `${openedAt} ${id}`)
    t.same(places, places.toSorted().toReversed(), 'newest first')
    const paged = await allPages((cursor) =>
      alice.call(listRounds, { input: { ...filter, limit: 1, ...defined({ cursor }) } }),
    )
    t.same(paged, whole.data, 'no page leaves one out, or shows one twice')
  }
  t.equal(await refusal(list({ cursor: 'rnd_unknown' })), 'VALIDATION_ERROR')
  await time.set(new Date('2026-03-02T12:00:00.000Z'))
})

t.test('a recall shows each play in the order of its decision, refusals too, and how the balance went', async (t) => {
  const ana = await playerOf(bed, newBrand(), { bodyDigest: 'cd'.repeat(32) })
  const standing = { status: 'ativo', kycStatus: 'aprovado', dailyLimit: null, dayDeposits: null, rtp: '96.10' }
  t.equal(await refusal(ana.bet('too-much', '5000.00', { standing })), 'INSUFFICIENT_FUNDS')
  await ana.rollback('early', 'never-came')
  const providerTime = '2026-03-02T11:59:59.000Z'
  const stakes = await ana.bet('bet-1', '10.00', { standing, providerTime })
  await ana.bet('bet-2', '20.00')
  t.equal(await refusal(ana.bet('excluded', '1.00', { refusedWith: { code: 'RG_BLOCKED' } })), 'RG_BLOCKED')
  await ana.rollback('back-2', 'bet-2', { reason: 'it hung' })
  await ana.rollback('back-2-again', 'bet-2')
  await ana.win('win-0', '0.00', { betTransactionId: 'bet-1' })
  await ana.win('win-1', '35.00', { betTransactionId: 'bet-1', detailsUrl: 'https://games.example/1', roundEnds: true })
  t.equal(await refusal(ana.bet('late', '1.00')), 'ROUND_CLOSED')
  t.equal(await refusal(ana.rollback('back-1', 'bet-1')), 'BET_ALREADY_SETTLED')
  // Neither of this round.
  await ana.bet('spin', '2.00', { roundId: 'round-2', win: '3.00' })
  await ana.win('prize', '7.00', { kind: 'promotion', roundId: undefined } as never)

  const [second, first] = (await list({ playerId: ana.playerId })).data
  const { round, data, nextCursor } = await recall(first?.id ?? '')
  t.same(round, first)
  t.equal(nextCursor, null)
  const line = (play: TeamPlay) =>
    [
      play.transactionId,
      play.kind,
      play.code ?? play.outcome,
      play.requestedAmount,
      play.amount,
      play.balanceBefore,
      play.balanceAfter,
    ].join(' ')
  t.same(data.map(line), [
    'too-much bet INSUFFICIENT_FUNDS 5000.00 0.00 1000.00 1000.00',
    'never-came bet voided  0.00 1000.00 1000.00',
    'early rollback noted  0.00 1000.00 1000.00',
    'bet-1 bet posted 10.00 10.00 1000.00 990.00',
    'bet-2 bet posted 20.00 20.00 990.00 970.00',
    'excluded bet RG_BLOCKED 1.00 0.00 970.00 970.00',
    'back-2 rollback posted 20.00 20.00 970.00 990.00',
    'back-2-again rollback noted  0.00 990.00 990.00',
    'win-0 win posted 0.00 0.00 990.00 990.00',
    'win-1 win posted 35.00 35.00 990.00 1025.00',
    'late bet ROUND_CLOSED 1.00 0.00 1025.00 1025.00',
    'back-1 rollback BET_ALREADY_SETTLED  0.00 1025.00 1025.00',
  ])
  const of = (id: string) => data.find(({ transactionId }) => transactionId === id)
  t.match(of('bet-1'), {
    id: stakes.id,
    round: first?.id,
    roundId: 'round-1',
    roundState: 'closed',
    roundOpenedAt: first?.openedAt,
    standing,
    providerTime,
    createdAt: '2026-03-02T12:00:00.000Z',
    sessionId: 'ses_1',
    gameId: 'wallet-reels',
    requestId: /^req_/,
    bodyDigest: 'cd'.repeat(32),
    rolledBack: false,
    isSpin: false,
  })
  t.match(of('bet-2'), { rolledBack: true })
  t.match(of('win-1'), { detailsUrl: 'https://games.example/1', winKind: 'win', betTransactionId: 'bet-1' })
  t.match(of('too-much'), { round: null, roundState: null, entryId: null, standing })
  // Each that moved money names its ledger item, and no other does.
  const { data: entries } = await alice.call(listEntries, { input: { playerId: ana.playerId, limit: 100 } })
  for (const play of data) {
    const entry = entries.find(({ id }) => id === play.entryId)
    if (play.amount === '0.00') t.equal(play.entryId, null)
    else t.equal(entry?.balanceAfter, play.balanceAfter, play.transactionId)
  }
  t.same((await recall(second?.id ?? '')).data.map(line), [
    'spin bet posted 2.00 2.00 1025.00 1023.00',
    'spin win posted 3.00 3.00 1023.00 1026.00',
  ])
  t.equal(await refusal(recall('rnd_unknown')), 'ROUND_NOT_FOUND')
  const cursor = { roundId: first?.id ?? '', limit: 1, cursor: 'pla_unknown' }
  t.equal(await refusal(alice.call(recallRound, { input: cursor })), 'VALIDATION_ERROR')
})

t.test('plays are listed newest first: those of a player or of an id, or else what was refused, and why', async (t) => {
  const [brand, other] = [newBrand(), newBrand()]
  const [ana, bia] = [await playerOf(bed, brand), await playerOf(bed, brand, { provider: 'prv_two' })]
  const elsewhere = await playerOf(bed, other)
  const refusedWith = { code: 'RG_BLOCKED', details: '{"reason":"self_exclusion"}' }
  const own = randomUUID()
  await ana.bet('same', '2.00')
  t.equal(await refusal(ana.bet(own, '1.00', { roundId: 'never', refusedWith })), 'RG_BLOCKED')
  t.equal(await refusal(bia.bet('same', '5000.00')), 'INSUFFICIENT_FUNDS')
  t.equal(await refusal(elsewhere.bet('same', '5000.00')), 'INSUFFICIENT_FUNDS')
  await ana.win('win', '1.00', { betTransactionId: 'same' })
  t.equal(await refusal(ana.rollback('back', 'same')), 'BET_ALREADY_SETTLED')

  const plays = (input: Omit<Input<typeof listPlays>, 'limit'>, limit = 100) =>
    alice.call(listPlays, { input: { limit, ...input } })
  const { brandId } = brand
  const all = (await plays({ brandId })).data
  const [settled, broke, excluded] = all
  t.match(settled, {
    ...{ transactionId: 'back', code: 'BET_ALREADY_SETTLED', roundId: 'round-1', round: /^rnd_/ },
    refusedDetails: JSON.stringify({ result: { roundState: 'open', winTransactionId: 'win', won: '1.00' } }),
  })
  t.match(broke, { transactionId: 'same', playerId: bia.playerId, round: null, refusedDetails: null })
  t.match(excluded, {
    ...{ transactionId: own, code: 'RG_BLOCKED', round: null, roundId: 'never', requestedAmount: '1.00' },
    refusedDetails: '{"reason":"self_exclusion"}',
  })
  const { brandId: otherBrand } = other
  const lines = async (input: Parameters<typeof plays>[0]) =>
    (await plays({ brandIds: [brandId, otherBrand], ...input })).data.map(
      ({ transactionId, outcome, playerId }) =>
        `${transactionId} ${outcome}${playerId === ana.playerId ? '' : playerId === bia.playerId ? ' of bia' : ' elsewhere'}`,
    )
  for (const [input, expected] of [
    [{}, ['back refused', 'same refused elsewhere', 'same refused of bia', `${own} refused`]],
    [{ brandId, providerId: 'prv_two' }, ['same refused of bia']],
    [{ providerId: 'prv_three' }, []],
    [{ playerId: ana.playerId }, ['back refused', 'win posted', `${own} refused`, 'same posted']],
    [{ playerId: ana.playerId, outcome: 'refused' }, ['back refused', `${own} refused`]],
    [{ playerId: ana.playerId, outcome: 'posted', providerId: 'prv_two' }, []],
    [{ transactionId: 'same' }, ['same refused elsewhere', 'same refused of bia', 'same posted']],
    [{ transactionId: 'same', outcome: 'posted' }, ['same posted']],
    [{ transactionId: 'same', playerId: bia.playerId, brandId }, ['same refused of bia']],
    [{ transactionId: excluded?.id ?? '' }, [`${own} refused`]],
    [{ transactionId: excluded?.requestId ?? '' }, [`${own} refused`]],
    [{ transactionId: 'nothing' }, []],
    [{ playerId: 'ply_unknown' }, []],
  ] as const)
    t.same(await lines(input), expected, JSON.stringify(input))

  for (const filter of [{ brandId }, { playerId: ana.playerId }, { transactionId: 'same', brandId }]) {
    const paged = await allPages((cursor) => plays({ ...filter, ...defined({ cursor }) }, 1))
    t.same(paged, (await plays(filter)).data, JSON.stringify(filter))
  }
  t.equal(await refusal(plays({ outcome: 'posted' })), 'VALIDATION_ERROR', 'no index has those')
  t.equal(await refusal(plays({ cursor: 'pla_unknown' })), 'VALIDATION_ERROR')
})

t.test('a round of 1,000 plays is recalled in pages, each play once and in its order', async (t) => {
  const ana = await playerOf(bed, newBrand())
  await ana.bet('0', '0.01')
  await Promise.all(Array.from({ length: 999 }, (_, n) => ana.bet(`${n + 1}`, '0.01')))
  const [round] = (await list({ playerId: ana.playerId })).data
  t.match(round, { plays: 1000, staked: '10.00', state: 'open' })
  const input = { roundId: round?.id ?? '', limit: 300 }
  const plays = await allPages((cursor) => alice.call(recallRound, { input: { ...input, ...defined({ cursor }) } }))
  t.equal(new Set(plays.map(({ id }) => id)).size, 1000)
  t.ok(plays.every(({ balanceBefore }, n) => n === 0 || balanceBefore === plays[n - 1]?.balanceAfter))
  t.equal(plays.at(-1)?.balanceAfter, '990.00')
})

const observed = async () => {
  const found = await unsettledPlay(bed.services.wallet.db.reader).read()
  return Object.entries(found).flatMap(([name, observations = []]) =>
    observations
      .filter(({ value, attributes }) => value > 0 && attributes?.environment === 'production')
      .map(({ value, attributes: { environment: _, ...attributes } = {} }) =>
        [name, ...Object.values(attributes), value].join(' '),
      ),
  )
}

t.test('a round that has been open for 24 hours is counted, and for 72 hours once more', async (t) => {
  const brand = bed.scope({ environment: 'production', operatorId: newId('op') })
  const [ana, bia] = [await playerOf(bed, brand), await playerOf(bed, brand)]
  const openedAt = Date.parse('2026-03-10T00:00:00.000Z')
  await time.set(new Date(openedAt))
  await ana.bet(randomUUID(), '1.00')
  await bia.bet(randomUUID(), '1.00')
  await bia.close()
  for (const [hours, seen] of [
    [23, []],
    [25, ['backoffice.play.open_rounds 24h 1']],
    [73, ['backoffice.play.open_rounds 24h 1', 'backoffice.play.open_rounds 72h 1']],
  ] as const) {
    await time.set(new Date(openedAt + hours * hourMs))
    t.same(await observed(), seen, `after ${hours} hours`)
  }
  const openedBefore = new Date(openedAt + 1).toISOString()
  const { data } = await alice.call(countOpenRounds, { input: { openedBefore } })
  t.match(
    data.filter(({ brandId }) => brandId === brand.brandId),
    [{ providerId: 'prv_one', open: 1, oldestAt: new Date(openedAt).toISOString() }],
  )
  await ana.close()
  t.same(await observed(), [], 'it has ended')
  const none = await alice.call(countOpenRounds, { input: { openedBefore: '2026-01-01T00:00:00.000Z' } })
  t.same(none.data, [])
})

t.test('wins that wait for two people are counted, and for an hour those that found no bet to stand on', async (t) => {
  const brand = bed.scope({ environment: 'production', operatorId: newId('op') })
  const ana = await playerOf(bed, brand)
  await ana.bet('bet', '1.00', { roundId: 'one' })
  t.equal(await refusal(ana.win('large', '999999.00', { roundId: 'one' })), 'WIN_HELD')
  await refusal(ana.bet('refused', '1.00', { roundId: 'two', refusedWith: { code: 'RG_BLOCKED' } }))
  t.equal(await refusal(ana.win('lost', '1.00', { roundId: 'two' })), 'BET_REFUSED')
  const seen = ['backoffice.play.held_wins 1', 'backoffice.play.refused_wins BET_REFUSED 1']
  t.same(await observed(), seen)
  await time.set(new Date(time.now().getTime() + 2 * hourMs))
  t.same(await observed(), seen.slice(0, 1))
})

t.test('of rounds that stay open ten thousand are counted, those that were opened first', async (t) => {
  await bed.sql('admin').query(
    `insert into wallet.round (id, provider_id, brand_id, provider_round_id, account_id, game_id, state, opened_at)
      select 'rnd_' || n, 'prv_one', 'brd_of_many', n, 1, 'wallet-reels', 'open', '2020-01-01Z'::timestamptz + n * interval '1 s'
      from generate_series(1, 10001) n`,
  )
  const { data } = await alice.call(countOpenRounds, { input: { openedBefore: '2021-01-01T00:00:00.000Z' } })
  t.same(data, [{ providerId: 'prv_one', brandId: 'brd_of_many', open: 10_000, oldestAt: '2020-01-01T00:00:01.000Z' }])
})

t.test('a page of all rounds, or of what was refused, has the newest of any brand and provider', async (t) => {
  const brands = [newBrand(), newBrand(), newBrand()]
  const brandIds = brands.map(({ brandId }) => brandId)
  const players = await Promise.all(
    brands.flatMap((brand) => [playerOf(bed, brand), playerOf(bed, brand, { provider: 'prv_two' })]),
  )
  const [rounds, refused]: [string[], string[]] = [[], []]
  // The last ones play most, so that a page is of some of them alone.
  for (const [index, player] of [...players, ...players.slice(3), ...players.slice(5)].entries()) {
    await time.set(new Date(time.now().getTime() + 1_000))
    await player.bet(`page-${index}`, '1.00', { roundId: `page-${index}` })
    rounds.unshift(`page-${index}`)
    await refusal(player.bet(`poor-${index}`, '9999.00', { roundId: `poor-${index}` }))
    refused.unshift(`poor-${index}`)
  }
  for (const limit of [1, 2, 4, 20]) {
    const listed = await allPages((cursor) =>
      alice.call(listRounds, { input: { brandIds, limit, ...defined({ cursor }) } }),
    )
    t.same(
      listed.map(({ roundId }) => roundId),
      rounds,
      `${limit} rounds a page`,
    )
    const plays = await allPages((cursor) =>
      alice.call(listPlays, { input: { brandIds, limit, ...defined({ cursor }) } }),
    )
    t.same(
      plays.map(({ transactionId }) => transactionId),
      refused,
      `${limit} plays a page`,
    )
  }
  const [own = ''] = brandIds
  t.same(
    (await list({ brandId: own })).data.map(({ roundId }) => roundId),
    rounds.filter((id) => ['page-0', 'page-1'].includes(id)),
  )
})
