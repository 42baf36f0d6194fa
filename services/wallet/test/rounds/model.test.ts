import assert from 'node:assert/strict'
import { newId } from '@backoffice/process'
import { testBed } from '@backoffice/test-kit'
import fc from 'fast-check'
import t from 'tap'
import { Ledger } from '../../src/ledger/ledger.ts'
import type { Posting, PostingOutcome } from '../../src/ledger/posting.ts'
import { wallet } from '../../src/service.ts'
import * as books from '../ledger/books.ts'

const bed = await testBed(t, { wallet })
const { db } = bed.services.wallet
const admin = bed.sql('admin')

const id = fc.integer({ min: 1, max: 9 })
const flag = fc.boolean()
const drawn = fc.record({
  kind: fc.integer({ min: 0, max: 14 }),
  id,
  other: id,
  amount: fc.integer({ min: 0, max: 40 }).map(BigInt),
  rare: fc.integer({ min: 0, max: 9 }),
  flag,
  more: flag,
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

/** Mostly an id stands for one player, round and amount, so that what is sent again is the same and names what there is. */
const seed = drawn.map(({ kind, id, other, amount, rare, flag, more }: Drawn) => {
  const round = (number: number) => `r${number % 3}`
  const whose = (number: number) => (number % 3 === 0 ? 1 : 0)
  const named = round(id) === round(other) || rare < 2 ? other : ((other + 2) % 3) * 3 + (id % 3)
  return {
    ...{ kind, flag, more, other: String(named || 3), provider: rare === 0 ? 'prv_2' : 'prv_1', id: String(id) },
    who: rare === 1 ? 2 : whose(id),
    round: rare === 2 ? 'r0' : round(id),
    amount: rare < 4 ? amount : BigInt(id * 3),
    isRare: rare < 3,
  }
})
type Seed = typeof seed extends fc.Arbitrary<infer T> ? T : never

/** Makes the same posting with the same ids for the model and for the database. */
function postingOf(
  one: Seed,
  { run, number, brandId }: { run: string; number: number; brandId: string },
  model: books.Books,
): Posting {
  let made = 0
  const name = (prefix: string) => `${prefix}_${run}_${number}_${++made}`
  const player = `ply_${one.who}`
  const own = { newId: name, providerId: one.provider, providerRoundId: one.round }
  const named = { ...own, betTransactionId: one.flag ? one.other : null }
  const at = <P extends Posting>(posting: P): P => ({ ...posting, brandId, playerId: `${player}_${run}` })
  const transferId = name('trf')
  switch (one.kind) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
      return at(
        books.bet(player, one.id, one.amount, {
          ...own,
          isFree: one.amount === 0n,
          endsRound: one.isRare && one.more,
          refusedWith: one.isRare && one.flag ? { code: 'RG_BLOCKED', details: null } : null,
        }),
      )
    case 5:
      return at(books.spin(player, one.id, one.amount + 1n, BigInt(one.other), own))
    case 6:
    case 7:
      return at(books.win(player, one.id, one.amount, { ...named, endsRound: one.isRare, maxWin: 30n }))
    case 8:
      return at(
        books.win(player, one.id, one.amount, { ...named, maxWin: 30n, winKind: one.more ? 'jackpot' : 'promotion' }),
      )
    case 9:
      return at(books.rollback(player, one.id, one.other, own))
    case 10:
      return at(one.more ? books.close(player, own) : books.rollback(player, one.other, one.other, own))
    case 11:
      return at(books.end(player, one.flag ? 'void' : 'closed', own))
    case 12: {
      // The team reverses a stake that is there, if it was not given back before.
      const stakes = [...model.transfers.values()].filter(({ type }) => type === 'BET')
      const stake = stakes[Number(one.amount) % Math.max(stakes.length, 1)]
      const play = model.plays.find((each) => each.id === stake?.reference)
      const owner = [...model.accounts.values()].find((account) => account.id === play?.accountId)
      if (stake === undefined || play === undefined || owner === undefined) break
      const back = { ...books.reversal(player, `rev${number}`, stake.amount, stake.id), transferId }
      return {
        ...back,
        ...at(back),
        kind: 'credit',
        counterparty: 'play',
        party: play.providerId,
        playerId: owner.playerId,
      } as Posting
    }
    default:
  }
  return { ...at(books.credit(player, `d${number}`, number < 3 ? 600n : 50n)), transferId } as Posting
}

/** What does not depend on the moment, nor on the numbers that PostgreSQL gives accounts. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, each) => {
      if (/At$|^accountId$|^bodyDigest$/.test(key)) return undefined
      return typeof each === 'bigint' ? String(each) : each
    }),
  )

const settled = (outcome: PostingOutcome): unknown => {
  if (outcome.outcome !== 'play') return plain(outcome)
  const { transferId: _t, isUndone: _u, settledBy: _s, ...play } = outcome.play as never as Record<string, unknown>
  // Where several wins settled a bet, a refused rollback names one of them.
  const refusedDetails = String(play.refusedDetails).replace(/"winTransactionId":.*?(?=})/, '')
  return plain({ ...outcome, play: { ...play, refusedDetails }, win: outcome.win?.id ?? null })
}

t.test('property: whatever comes in whichever batches, the database says what the model says', async () => {
  let runs = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(seed, { minLength: 30, maxLength: 120, size: 'max' }),
      fc.integer({ min: 1, max: 12 }),
      async (seeds, size) => {
        const run = `${++runs}`
        const brandId = newId('brd')
        const model = new books.Books({ brandId, playerIds: [0, 1, 2].map((number) => `ply_${number}_${run}`) })
        // Two batches at once could take the locks in either order, and the model knows one.
        const ledger = new Ledger({ db, concurrency: 1 })
        const given = (posting: Posting) => ledger.post(posting)
        const rich = [0, 1, 2].map((who) => ({ kind: 13, who }) as Seed)
        const all = [...rich, ...seeds]
        for (let begin = 0; begin < all.length; begin += size) {
          const chunk = all.slice(begin, begin + size)
          const place = (index: number) => ({ run, number: begin + index, brandId })
          const [forModel, forLedger] = [1, 2].map(() => chunk.map((one, index) => postingOf(one, place(index), model)))
          await Promise.all((forLedger ?? []).map((posting) => ledger.openAccount(posting)))
          const expected = model.post(...(forModel ?? []))
          const actual = await Promise.all((forLedger ?? []).map(given))
          assert.deepEqual(actual.map(settled), expected.map(settled))
        }
        assert.deepEqual(model.faults(), [])
        const { rows } = await admin.query(
          `select a.owner_id as player, a.posted::text, r.provider_round_id as round, r.provider_id as provider, r.state, r.live_bets
         from wallet.account a left join wallet.round r on r.account_id = a.id
         where a.brand_id = $1 and a.kind = 'player' order by 1, 3, 4`,
          [brandId],
        )
        const rounds = [...model.rounds.values()]
        for (const row of rows) {
          assert.equal(row.posted, String(model.balance(row.player).posted))
          if (row.round === null) continue
          const same = rounds.find(
            (one) =>
              one.providerRoundId === row.round &&
              one.providerId === row.provider &&
              model.ownerOf(one.accountId) === row.player,
          )
          assert.deepEqual([row.state, row.live_bets], [same?.state, same?.liveBets])
        }
      },
    ),
    { numRuns: 25 },
  )
})
