import { balanceByTeamMax, depositsOfPlayerMax } from '@backoffice/contracts'
import fc from 'fast-check'
import t from 'tap'
import type { Posting, PostingOutcome } from '../../src/ledger/posting.ts'
import { adjustment, Books, capture, credit, debit, hold, players, refusal, release, reversal } from './books.ts'

const [ana, bia] = players

/** Brings a hold of 40 from a balance of 100 into a state. */
const holds: Readonly<Record<string, (books: Books) => void>> = {
  unknown: () => {},
  open: (books) => books.post(hold(ana, 'w', 4000n)),
  captured: (books) => books.post(hold(ana, 'w', 4000n), capture(ana, 'w')),
  released: (books) => books.post(hold(ana, 'w', 4000n), release(ana, 'w')),
  tombstone: (books) => books.post(release(ana, 'w')),
  refused: (books) => books.post(hold(ana, 'w', 10_001n)),
}

const open = { outcome: 'hold', state: 'open' }
const released = { outcome: 'hold', state: 'released' }
const captured = { outcome: 'hold', state: 'captured' }
const insufficient = { outcome: 'insufficient_funds' }
const fault = { outcome: 'fault' }
const conflict = { outcome: 'conflict' }

const told = (result: { readonly outcome: string; readonly state?: string; readonly replayed?: boolean }) =>
  result.state ?? result.outcome

// Every state × every command: the outcome, and then posted and held.
for (const [state, command, result, posted, held] of [
  ['unknown', hold(ana, 'w', 4000n), open, 10_000n, 4000n],
  ['unknown', capture(ana, 'w'), fault, 10_000n, 0n],
  ['unknown', release(ana, 'w'), released, 10_000n, 0n],
  ['open', hold(ana, 'w', 4000n), open, 10_000n, 4000n],
  ['open', hold(ana, 'w', 4001n), conflict, 10_000n, 4000n],
  ['open', hold(bia, 'w', 4000n), conflict, 10_000n, 4000n],
  ['open', capture(ana, 'w'), { outcome: 'posted', replayed: false }, 6000n, 0n],
  ['open', capture(bia, 'w'), fault, 10_000n, 4000n],
  ['open', release(ana, 'w'), released, 10_000n, 0n],
  ['open', release(bia, 'w'), fault, 10_000n, 4000n],
  ['captured', hold(ana, 'w', 4000n), captured, 6000n, 0n],
  ['captured', capture(ana, 'w'), { outcome: 'posted', replayed: true }, 6000n, 0n],
  ['captured', release(ana, 'w'), captured, 6000n, 0n],
  ['released', hold(ana, 'w', 4000n), released, 10_000n, 0n],
  ['released', capture(ana, 'w'), fault, 10_000n, 0n],
  ['released', release(ana, 'w'), released, 10_000n, 0n],
  ['tombstone', hold(ana, 'w', 4000n), released, 10_000n, 0n],
  ['tombstone', hold(bia, 'w', 4000n), conflict, 10_000n, 0n],
  ['tombstone', capture(ana, 'w'), fault, 10_000n, 0n],
  ['tombstone', release(ana, 'w'), released, 10_000n, 0n],
  ['refused', hold(ana, 'w', 10_001n), insufficient, 10_000n, 0n],
  ['refused', capture(ana, 'w'), fault, 10_000n, 0n],
  ['refused', release(ana, 'w'), released, 10_000n, 0n],
] as const)
  t.test(`${command.kind} of ${command.playerId} on a hold that is ${state}: ${told(result)}`, async (t) => {
    const books = new Books()
    books.post(credit(ana, 'd', 10_000n))
    holds[state]?.(books)
    t.match(books.post(command), [result])
    t.same(books.balance(ana), { posted, held })
    t.same(books.faults(), [])
  })

t.test('a hold that was refused stays refused, whatever the balance becomes', async (t) => {
  const books = new Books()
  t.match(books.post(hold(ana, 'w', 1n), credit(ana, 'd', 100n), hold(ana, 'w', 1n)), [insufficient, {}, insufficient])
  t.match(books.post(hold(ana, 'w', 1n)), [insufficient])
})

t.test('a refused debit is refused for ever, and its neighbours are posted', async (t) => {
  const books = new Books()
  t.match(books.post(credit(ana, 'd1', 100n), debit(ana, 'a1', 101n), debit(ana, 'a2', 100n)), [
    { outcome: 'posted' },
    insufficient,
    { outcome: 'posted' },
  ])
  books.post(credit(ana, 'd2', 1000n))
  t.match(books.post(debit(ana, 'a1', 101n)), [insufficient])
  t.equal(books.balance(ana).posted, 1000n)
})

t.test('what is held is not there for a debit, and all that is left is', async (t) => {
  const books = new Books()
  books.post(credit(ana, 'd', 100n), hold(ana, 'w', 40n))
  t.match(books.post(debit(ana, 'a1', 61n), debit(ana, 'a2', 60n)), [insufficient, { outcome: 'posted' }])
  t.same(books.balance(ana), { posted: 40n, held: 40n })
})

t.test('a reference of another transfer is a conflict, and nothing is posted', async (t) => {
  const books = new Books()
  books.post(credit(ana, 'd', 100n))
  t.match(books.post(credit(ana, 'd', 101n), credit(bia, 'd', 100n), debit(ana, 'd', 100n)), [
    conflict,
    conflict,
    conflict,
  ])
  t.equal(books.balance(ana).posted, 100n)
})

t.test('a transfer is reversed once, in one batch or in two', async (t) => {
  const books = new Books()
  const [result] = books.post(credit(ana, 'd', 100n))
  const id = result?.outcome === 'posted' ? result.transferId : ''
  books.post(credit(ana, 'd2', 100n))
  t.match(books.post(reversal(ana, 'r1', 100n, id), reversal(ana, 'r2', 100n, id)), [
    { outcome: 'posted' },
    { outcome: 'already_reversed' },
  ])
  t.match(books.post(reversal(ana, 'r3', 100n, id)), [{ outcome: 'already_reversed' }])
  t.match(books.post(reversal(ana, 'r1', 100n, id)), [{ outcome: 'posted', replayed: true }])
  t.equal(books.balance(ana).posted, 100n)
})

t.test('the reference of a reversal belongs to one reversed transfer', async (t) => {
  const books = new Books()
  const [first, second] = books
    .post(credit(ana, 'd1', 100n), credit(ana, 'd2', 100n))
    .map((result) => (result.outcome === 'posted' ? result.transferId : ''))
  const one = reversal(ana, 'r', 100n, first ?? '')
  t.match(books.post(one, reversal(ana, 'r', 100n, second ?? '')), [{ outcome: 'posted' }, conflict])
  t.equal(books.balance(ana).posted, 100n)
})

t.test('a reversal that was refused for want of funds leaves its transfer to be reversed', async (t) => {
  const books = new Books()
  const [result] = books.post(credit(ana, 'd1', 100n))
  const id = result?.outcome === 'posted' ? result.transferId : ''
  books.post(debit(ana, 'a', 50n))
  const [again, more] = [reversal(ana, 'r2', 100n, id), credit(ana, 'd2', 50n)]
  t.match(books.post(reversal(ana, 'r1', 100n, id), more, again), [
    insufficient,
    { outcome: 'posted' },
    { outcome: 'posted' },
  ])
  t.equal(books.balance(ana).posted, 0n)
})

t.test('a balance reaches the most that the database holds, and a credit beyond it is a fault', async (t) => {
  const books = new Books()
  const most = 9_223_372_036_854_775_807n
  t.match(books.post(credit(ana, 'd1', most), credit(ana, 'd2', 1n), credit(bia, 'd3', 1n)), [
    { outcome: 'posted' },
    fault,
    { outcome: 'posted' },
  ])
  t.equal(books.balance(ana).posted, most)
})

t.test('a credit that can never be done is refused for ever, when it was asked for', async (t) => {
  const books = new Books()
  const most = 9_223_372_036_854_775_807n
  books.post(credit(ana, 'd1', most))
  const refused = { outcome: 'refused' }
  t.match(books.post(refusal(ana, 'd2', 1n), credit(ana, 'd2', 1n), refusal(ana, 'd2', 1n)), [
    refused,
    refused,
    refused,
  ])
  // There is room now, and the credit arrives late.
  books.post(debit(ana, 'a1', most))
  t.match(books.post(credit(ana, 'd2', 1n), refusal(ana, 'd2', 1n)), [refused, refused])
  t.equal(books.balance(ana).posted, 0n)
  t.same(books.faults(), [])
})

t.test('so is a credit in another currency than the account', async (t) => {
  const books = new Books()
  const inDollars = (posting: Posting) => ({ ...posting, currency: 'USD' }) as Posting
  t.match(books.post(inDollars(refusal(ana, 'd', 1n)), inDollars(credit(ana, 'd', 1n)), credit(ana, 'd', 1n)), [
    { outcome: 'refused' },
    fault,
    conflict,
  ])
  t.equal(books.balance(ana).posted, 0n)
})

t.test('a credit that is posted, or can be, is not refused', async (t) => {
  const books = new Books()
  t.match(books.post(refusal(ana, 'd', 1n), credit(ana, 'd', 1n), refusal(ana, 'd', 1n)), [
    { outcome: 'possible' },
    { outcome: 'posted', replayed: false },
    { outcome: 'posted', replayed: true },
  ])
  t.equal(books.balance(ana).posted, 1n)
})

t.test('a hold whose reference a transfer has taken is not captured, and stays open', async (t) => {
  const books = new Books()
  books.post(credit(ana, 'd', 100n), hold(ana, 'w', 40n), debit(ana, 'w', 1n))
  t.match(books.post(capture(ana, 'w')), [fault])
  t.same(books.balance(ana), { posted: 99n, held: 40n })
})

t.test('a posting in another currency than the account is a fault', async (t) => {
  const books = new Books()
  t.match(books.post({ ...credit(ana, 'd', 100n), currency: 'USD' } as Posting, credit(ana, 'e', 1n)), [
    fault,
    { outcome: 'posted' },
  ])
})

t.test('the team takes a balance to its limit and no further, whichever way', async (t) => {
  const books = new Books()
  const [taken] = books.post(credit(ana, 'd1', 100n), debit(ana, 'a1', 100n)).slice(1)
  const id = taken?.outcome === 'posted' ? taken.transferId : ''
  const full = { outcome: 'balance_limit' }
  t.match(books.post(adjustment(ana, 'a2', balanceByTeamMax + 1n), adjustment(ana, 'a2', balanceByTeamMax)), [
    full,
    { outcome: 'posted', replayed: false },
  ])
  const back = { ...adjustment(ana, 'r1', 100n), type: 'REVERSAL', reverses: id } as Posting
  t.match(books.post(back, credit(ana, 'd2', depositsOfPlayerMax)), [full, { outcome: 'posted' }])
  t.equal(books.balance(ana).posted, balanceByTeamMax + depositsOfPlayerMax)
})

t.test('property: a deposit that was accepted has room, whatever the team does before it is credited', async () => {
  const large = fc.bigInt({ min: 1n, max: balanceByTeamMax })
  const step = fc.tuple(fc.constantFrom('deposit', 'adjust', 'take'), large)
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const books = new Books()
      let deposited = 0n
      return steps.every(([kind, value], index) => {
        if (kind === 'adjust') books.post(adjustment(ana, `a${index}`, value))
        if (kind === 'take') books.post(debit(ana, `a${index}`, value))
        if (kind !== 'deposit') return true
        // Twice what payments accepts of one player.
        const accepted = value % (2n * depositsOfPlayerMax - deposited)
        deposited += accepted
        return accepted === 0n || books.post(credit(ana, `d${index}`, accepted))[0]?.outcome === 'posted'
      })
    }),
    { numRuns: 300 },
  )
})

const amount = fc.bigInt({ min: 1n, max: 50n })
const who = fc.constantFrom(...players)
const reference = fc.integer({ min: 0, max: 12 })
const anyPosting: fc.Arbitrary<Posting> = fc.oneof(
  fc.tuple(who, reference, amount).map(([player, number, value]) => credit(player, `d${number}`, value)),
  fc.tuple(who, reference, amount).map(([player, number, value]) => refusal(player, `d${number}`, value)),
  fc.tuple(who, reference, amount).map(([player, number, value]) => debit(player, `a${number}`, value)),
  fc.tuple(who, reference, amount).map(([player, number, value]) => hold(player, `w${number}`, value)),
  fc.tuple(who, reference).map(([player, number]) => capture(player, `w${number}`)),
  fc.tuple(who, reference).map(([player, number]) => release(player, `w${number}`)),
)
const postings = fc.array(anyPosting, { maxLength: 40 })
/** An outcome without what a replay alone differs in. */
const plain = (outcomes: readonly PostingOutcome[]) =>
  outcomes.map((result) => (result.outcome === 'posted' ? { ...result, replayed: false } : result))

t.test('property: in which batches postings come changes no outcome or balance, and the books are sound', async (t) => {
  fc.assert(
    fc.property(postings, fc.integer({ min: 1, max: 10 }), (all, size) => {
      const together = new Books()
      const outcomes = together.post(...all)
      const apart = new Books()
      const parts: PostingOutcome[] = []
      for (let begin = 0; begin < all.length; begin += size)
        parts.push(...apart.post(...all.slice(begin, begin + size)))
      t.strictSame(parts, outcomes)
      t.strictSame([...apart.accounts], [...together.accounts])
      t.same([...together.faults(), ...apart.faults()], [])
    }),
    { numRuns: 300 },
  )
})

t.test('property: posting everything again moves nothing and comes to what it came to', async (t) => {
  fc.assert(
    fc.property(postings, (all) => {
      const books = new Books()
      books.post(...all)
      const settled = books.post(...all)
      const before = [...books.accounts]
      t.strictSame(plain(books.post(...all)), plain(settled))
      t.strictSame([...books.accounts], before)
    }),
    { numRuns: 100 },
  )
})
