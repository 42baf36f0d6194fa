import { randomUUID } from 'node:crypto'
import {
  operations,
  type PlaySums,
  playDayRows,
  playTitles,
  providersToldMax,
  readPlayDay,
  toMinorUnits,
} from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import type { Interceptor } from '@backoffice/service-runtime/testing'
import { eventually, keptMessages, playerOf, refusal, TestTime, testBed } from '@backoffice/test-kit'
import { webhooks } from '@backoffice/webhooks'
import t from 'tap'
import { closeEndedDays, shortened } from '../../src/background/close-days.ts'
import { wallet } from '../../src/service.ts'

const hourMs = 3_600_000
const time = new TestTime(new Date('2026-01-01T12:00:00.000Z'))
/** Stands around the steps of the service under test, while a test wants to. */
let around: Interceptor | undefined
const bed = await testBed(
  t,
  { wallet, webhooks },
  {
    time,
    config: { wallet: { PLAY_DAYS_EVERY_MS: hourMs } },
    intercept: () => (step, run) => (around === undefined ? run() : around(step, run)),
  },
)
const alice = bed.team('alice')
const admin = bed.sql('admin')
const { listPlayDays, exportPlayDay, listEntries, reverseTransfer } = operations.wallet

const newBrand = (timeZone = 'UTC') => bed.scope({ operatorId: newId('op'), brandId: newId('brd'), timeZone })
const at = (moment: string) => time.set(new Date(moment))
const close = (services: Parameters<typeof closeEndedDays>[0] = bed.services.wallet) => closeEndedDays(services)
const daysOf = async (brandId: string, from: string, to: string) =>
  (await alice.call(listPlayDays, { input: { brandId, from, to } })).data
const closedDays = async (brandId: string): Promise<string[]> =>
  (await admin.query('select day::text from wallet.play_day where brand_id = $1 order by day', [brandId])).rows.map(
    ({ day }) => day,
  )
/** What the operator of a brand was told, oldest first. */
const toldTo = async (brandId: string) =>
  (await keptMessages(admin, 'wallet'))
    .map(({ message }) => message.event)
    .filter((event) => event.brandId === brandId)
    .map(({ data }) => data)

// The time of each test is before that of the one before: to it, the brands of those have not played yet.

const kindsOfSums = ['bets', 'wins', 'rollbacks', 'jackpots', 'promotions', 'ggr'] as const
type Amounts = Record<(typeof kindsOfSums)[number], bigint>
const addUp = (lines: readonly PlaySums[]): Amounts =>
  Object.fromEntries(
    kindsOfSums.map((name) => [name, lines.reduce((sum, line) => sum + toMinorUnits(line[name]), 0n)]),
  ) as Amounts

t.test(
  "the sums of all days are what the provider's accounts gained, and those of a file what its plays say",
  async (t) => {
    const brand = newBrand('America/Sao_Paulo')
    const { brandId } = brand
    await at('2026-06-01T12:00:00.000Z')
    const ana = await playerOf(bed, brand)
    await ana.bet('b1', '10.00', { roundId: 'r1' })
    await ana.win('w1', '4.00', { roundId: 'r1' })
    await ana.bet('b2', '7.00', { roundId: 'r2' })
    await ana.rollback('b2', 'b2', { roundId: 'r2' })
    await ana.bet('s1', '2.00', { roundId: 'r3', win: '9.00' })
    await ana.bet('f1', '0.00', { roundId: 'r4', freeRound: true })
    await ana.win('f1', '5.00', { roundId: 'r4', kind: 'free_round', campaignId: 'summer' })
    await ana.bet('b5', '1.00', { roundId: 'r5' })
    await refusal(ana.bet('no', '9999.00', { roundId: 'r6' }))
    // The round goes on over midnight.
    await at('2026-06-02T12:00:00.000Z')
    await ana.win('j5', '100.00', { roundId: 'r5', kind: 'jackpot' })
    await ana.win('p1', '3.00', { kind: 'promotion', roundId: 'r5' })
    const { data: entries } = await alice.call(listEntries, {
      input: { playerId: ana.playerId, limit: 100 },
    })
    const reverse = (transferId: string) =>
      bed.agreed(reverseTransfer, {
        input: { playerId: ana.playerId, transferId, reference: randomUUID(), reason: 'a test' } as never,
      })
    for (const taken of ['4.00', '-10.00'])
      await reverse(entries.find(({ amount }) => amount === taken)?.transferId ?? '')
    await at('2026-06-03T12:00:00.000Z')

    const [first, second] = await Promise.all(['2026-06-01', '2026-06-02'].map((day) => daysOf(brandId, day, day)))
    t.match(first, [
      { rounds: 5, bets: '20.00', wins: '13.00', rollbacks: '7.00', jackpots: '0.00', promotions: '5.00', ggr: '0.00' },
    ])
    t.match(second, [
      {
        rounds: 0,
        bets: '0.00',
        wins: '-4.00',
        rollbacks: '10.00',
        jackpots: '100.00',
        promotions: '3.00',
        ggr: '-6.00',
      },
    ])
    const sums = addUp([...(first ?? []), ...(second ?? [])])
    const { rows } = await admin.query(
      `select kind, sum(e.amount) as balance from wallet.account a join wallet.entry e on e.account_id = a.id
    where a.brand_id = $1 and a.party = 'prv_one' group by 1`,
      [brandId],
    )
    t.same(Object.fromEntries(rows.map(({ kind, balance }) => [kind, BigInt(balance)])), {
      play: sums.ggr,
      jackpots: -sums.jackpots,
      promotions: -sums.promotions,
    })

    // Closed or not, each says the same, page by page.
    for (const isClosed of [false, true]) {
      if (isClosed) while ((await close()) > 0);
      t.same(await daysOf(brandId, '2026-06-01', '2026-06-02'), [...(first ?? []), ...(second ?? [])])
      const pages = await Array.fromAsync(
        readPlayDay((page) => alice.call(exportPlayDay, { input: { ...page, limit: 2 } }), {
          brandId,
          day: '2026-06-01',
        }),
      )
      const plays = pages.flatMap(({ data }) => data)
      t.equal(plays.length, 10)
      t.equal(new Set(plays.map(({ id }) => id)).size, 10)
      const [said] = pages.map((page) => page.sums)
      for (const page of pages) t.same(page.sums, said, 'in each page')
      const moved = (kind: string, winKind: string | null = null) =>
        plays
          .filter((play) => play.kind === kind && play.winKind === winKind)
          .reduce((sum, { amount }) => sum + toMinorUnits(amount), 0n)
      const { ggr: _, jackpots: __, ...inFile } = addUp(said ?? [])
      t.same(inFile, {
        bets: moved('bet'),
        wins: moved('win', 'win'),
        rollbacks: moved('rollback'),
        promotions: moved('win', 'free_round'),
      })
      const csv = (
        await Array.fromAsync(
          playDayRows(
            (async function* () {
              yield* pages
            })(),
          ),
        )
      ).flat()
      t.same(csv[0], playTitles)
      t.ok(csv.slice(0, 11).every((row) => row.length === playTitles.length))
      t.same(csv.slice(-3), [
        [],
        ['ledger', 'providerId', 'currency', 'rounds', ...kindsOfSums],
        ['ledger', 'prv_one', 'BRL', '5', '20.00', '13.00', '7.00', '0.00', '5.00', '0.00'],
      ])
    }
  },
)

for (const when of ['before', 'after'] as const)
  t.test(`a process that dies ${when} any step of closing a day leaves it untold, or told once`, async (t) => {
    const { brandId, ...brand } = newBrand()
    await at('2026-05-01T12:00:00.000Z')
    await (await playerOf(bed, { brandId, ...brand })).bet('1', '1.00')
    await at('2026-05-02T12:00:00.000Z')
    await close()
    for (let last = 1, died = true; died; last++) {
      let steps = 0
      died = false
      around = async (step, run) => {
        if (!('transaction' in step) || ++steps < last) return run()
        died = true
        if (when === 'after' && steps === last) await run()
        throw new Error('died')
      }
      await close()
      around = undefined
      const [closed, told] = [await closedDays(brandId), await toldTo(brandId)]
      t.equal(told.length, closed.length - 1, `step ${last}: ${told.length} told`)
    }
    t.same(await closedDays(brandId), ['2026-04-30', '2026-05-01'])
    t.match(await toldTo(brandId), [{ day: '2026-05-01', providers: [{ bets: '1.00' }] }])
  })

t.test('the operator is sent the event', async () => {
  const brand = newBrand()
  await at('2026-04-05T12:00:00.000Z')
  await (await playerOf(bed, brand)).bet('1', '1.00')
  await at('2026-04-06T12:00:00.000Z')
  while ((await close()) > 0);
  await eventually(async () => {
    const { rows } = await admin.query('select type from webhooks.delivery where brand_id = $1', [brand.brandId])
    return rows.length === 1 && rows[0].type === 'play.day_closed'
  })
})

t.test('a day is told once, whoever closes it, and one after another after three days of silence', async (t) => {
  const brand = newBrand()
  await at('2026-04-01T12:00:00.000Z')
  const ana = await playerOf(bed, brand)
  await ana.bet('1', '1.00', { roundId: '1' })
  await at('2026-04-03T12:00:00.000Z')
  await ana.bet('2', '2.00', { roundId: '2' })
  await at('2026-04-04T12:00:00.000Z')
  const replica = await bed.start('wallet')
  for (let round = 0; round < 6; round++) await Promise.all([close(), close(replica), close()])
  t.same(await closedDays(brand.brandId), ['2026-03-31', '2026-04-01', '2026-04-02', '2026-04-03'])
  t.match(await toldTo(brand.brandId), [
    { day: '2026-04-01', providers: [{ rounds: 1, bets: '1.00' }] },
    { day: '2026-04-03', providers: [{ rounds: 1, bets: '2.00' }] },
  ])
  t.equal(await close(), 0, 'nothing is due')
  await replica.drain()
})

// Each with the moments at which a day begins and ends: most last 24 hours, some 23 or 25.
for (const [timeZone, day, from, to] of [
  ['Europe/Lisbon', '2026-03-29', '2026-03-29T00:00:00.000Z', '2026-03-29T23:00:00.000Z'],
  ['UTC', '2026-03-02', '2026-03-02T00:00:00.000Z', '2026-03-03T00:00:00.000Z'],
  ['America/Sao_Paulo', '2026-03-02', '2026-03-02T03:00:00.000Z', '2026-03-03T03:00:00.000Z'],
  ['Asia/Kathmandu', '2026-03-02', '2026-03-01T18:15:00.000Z', '2026-03-02T18:15:00.000Z'],
  ['Europe/Lisbon', '2025-10-26', '2025-10-25T23:00:00.000Z', '2025-10-27T00:00:00.000Z'],
  // Summer time took midnight itself away, and gave an hour before midnight back.
  ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00.000Z', '2018-11-05T02:00:00.000Z'],
  ['America/Sao_Paulo', '2018-02-17', '2018-02-17T02:00:00.000Z', '2018-02-18T03:00:00.000Z'],
] as const)
  t.test(`in ${timeZone} ${day} has what was booked from ${from} on and before ${to}`, async (t) => {
    const brand = newBrand(timeZone)
    const { brandId } = brand
    const [begins, ends] = [Date.parse(from), Date.parse(to)]
    await time.set(new Date(begins - hourMs))
    const ana = await playerOf(bed, brand)
    for (const [moment, amount] of [
      [begins - 1, '1.00'],
      [begins, '2.00'],
      [ends - 1, '4.00'],
      [ends, '8.00'],
    ] as const) {
      await time.set(new Date(moment))
      await ana.bet(amount, amount, { roundId: amount })
    }
    const sums = { providerId: 'prv_one', currency: 'BRL', rounds: 2, bets: '6.00', ggr: '6.00' }
    t.match(await daysOf(brandId, day, day), [{ ...sums, brandId, day }])
    // A minute later nothing can be entered any more, and not before.
    await time.set(new Date(ends + 59_999))
    while ((await close()) > 0);
    t.notOk((await closedDays(brandId)).includes(day))
    await time.set(new Date(ends + 60_000))
    while ((await close()) > 0);
    t.equal((await closedDays(brandId)).at(-1), day)
    t.match(await toldTo(brandId), [{ providers: [{ bets: '1.00' }] }, { day, providers: [sums], version: 1 }])
    t.match(await daysOf(brandId, day, day), [{ ...sums, brandId, day }], 'as before')
    const { data } = await alice.call(exportPlayDay, { input: { brandId, day, limit: 10 } })
    t.same(
      data.map(({ transactionId }) => transactionId),
      ['2.00', '4.00'],
    )
  })

t.test('a day that has not ended is no file yet, and a list has at most 32 days', async (t) => {
  const { brandId } = newBrand()
  await bed.register(bed.scope({ brandId }))
  await time.set(null)
  const today = new Date().toISOString().slice(0, 10)
  for (const [what, call] of Object.entries({
    today: () => alice.call(exportPlayDay, { input: { brandId, day: today, limit: 10 } }),
    'no cursor': () =>
      alice.call(exportPlayDay, { input: { brandId, day: '2026-01-01', cursor: 'pla_unknown', limit: 10 } }),
    'no brand': () => alice.call(exportPlayDay, { input: { brandId: 'brd_unknown', day: '2026-01-01', limit: 10 } }),
    'no brand of a list': () => daysOf('brd_unknown', '2026-01-01', '2026-01-01'),
    backwards: () => daysOf(brandId, '2026-01-02', '2026-01-01'),
    'too long': () => daysOf(brandId, '2026-01-01', '2026-02-02'),
  }))
    t.equal(await refusal(call()), 'VALIDATION_ERROR', what)
  t.same(await daysOf(brandId, '2026-01-01', '2026-02-01'), [])
})

t.test('an event names the providers with the highest bets, and adds up the others', async (t) => {
  const line = (n: number): PlaySums => ({
    ...{ providerId: `prv_${n}`, currency: 'BRL', rounds: 1, bets: `${n}.00`, wins: '1.00', rollbacks: '0.00' },
    ...{ jackpots: '0.10', promotions: '0.00', ggr: `${n - 1}.00` },
  })
  const all = Array.from({ length: providersToldMax + 2 }, (_, n) => line(n + 1))
  t.equal(shortened(all.slice(0, providersToldMax)).length, providersToldMax)
  const told = shortened(all)
  t.equal(told.length, providersToldMax + 1)
  t.same(told[0], line(providersToldMax + 2))
  t.same(told[providersToldMax], {
    ...line(3),
    providerId: 'others',
    rounds: 2,
    wins: '2.00',
    jackpots: '0.20',
    ggr: '1.00',
  })
  t.same(addUp(told), addUp(all))
})
