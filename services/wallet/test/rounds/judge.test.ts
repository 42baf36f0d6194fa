import { balanceByTeamMax, providerErrors, refusedWithoutPlay } from '@backoffice/contracts'
import fc from 'fast-check'
import t from 'tap'
import type { Posting, PostingOutcome } from '../../src/ledger/posting.ts'
import { Books, bet, close, credit, end, players, reversal, rollback, spin, win } from '../ledger/books.ts'

const [ana, bia] = players

/** Brings a bet `b` of 40 from a balance of 100 into a state. */
const states = {
  unknown: () => [],
  posted: () => [bet(ana, 'b', 4000n)],
  refused: () => [
    bet(ana, 'b', 4000n, { refusedWith: { code: 'RG_BLOCKED', details: '{"reason":"self_exclusion"}' } }),
  ],
  'rolled back': () => [bet(ana, 'b', 4000n), rollback(ana, 'x', 'b')],
  'rolled back, another stands': () => [bet(ana, 'b', 4000n), bet(ana, 'a', 1000n), rollback(ana, 'x', 'b')],
  'reversed by the team': () => [bet(ana, 'b', 4000n), 'reverse' as const],
  tombstone: () => [rollback(ana, 'x', 'b')],
  'won by name': () => [bet(ana, 'b', 4000n), win(ana, 'v', 500n, { betTransactionId: 'b' })],
  'won without a name': () => [bet(ana, 'b', 4000n), win(ana, 'v', 500n)],
  'another won by name': () => [
    bet(ana, 'b', 4000n),
    bet(ana, 'a', 1000n),
    win(ana, 'v', 500n, { betTransactionId: 'a' }),
  ],
  'round closed': () => [bet(ana, 'b', 4000n), close(ana)],
  'round closed by the team': () => [bet(ana, 'b', 4000n), end(ana, 'closed')],
  'round void by the team': () => [bet(ana, 'b', 4000n), end(ana, 'void')],
  'a spin': () => [spin(ana, 'b', 4000n, 500n)],
  free: () => [bet(ana, 'b', 0n, { isFree: true })],
  'known as a win': () => [bet(ana, 'a', 1000n), win(ana, 'b', 500n)],
} satisfies Record<string, () => readonly (Posting | 'reverse')[]>

type State = keyof typeof states

const messages = {
  'the same bet': (state: string) =>
    state === 'a spin'
      ? spin(ana, 'b', 4000n, 500n)
      : state === 'free'
        ? bet(ana, 'b', 0n, { isFree: true })
        : bet(ana, 'b', 4000n, state === 'refused' ? {} : { refusedWith: { code: 'KYC_NOT_APPROVED', details: null } }),
  'another bet under its id': () => bet(ana, 'b', 4001n),
  'a bet of somebody else under its id': () => bet(bia, 'b', 4000n),
  'another bet': () => bet(ana, 'c', 1000n),
  'a spin of the round': () => spin(ana, 's', 1000n, 2000n),
  'a win that names it': () => win(ana, 'w', 700n, { betTransactionId: 'b' }),
  'a win that names none': () => win(ana, 'w', 700n),
  'a win of nothing': () => win(ana, 'w', 0n, { betTransactionId: 'b' }),
  'a prize': () => win(ana, 'w', 700n, { winKind: 'promotion', providerRoundId: null }),
  'its rollback': () => rollback(ana, 'y', 'b'),
  'a rollback under its id': () => rollback(ana, 'b', 'b'),
  close: () => close(ana),
  'void by the team': () => end(ana, 'void'),
  'end by the team': () => end(ana, 'closed'),
}

type Message = keyof typeof messages

function told(outcome: PostingOutcome | undefined): string {
  if (outcome?.outcome === 'not kept') return outcome.code
  if (outcome?.outcome === 'round') return `${outcome.replayed ? 'still ' : ''}${outcome.round.state}`
  if (outcome?.outcome !== 'play') return String(outcome?.outcome)
  const { play, round, replayed } = outcome
  const what = play.refusedWith === null ? play.outcome : `${play.refusedWith}, kept`
  return `${what}${replayed ? ' again' : ''}${round === null ? '' : `, ${round.state}`}`
}

type Verdicts = Readonly<Record<string, readonly State[] | 'otherwise'>>

/** Whatever id a rollback has. */
const rolledBack: Verdicts = {
  'posted, void, +4000': ['posted'],
  'noted, open': ['rolled back, another stands'],
  'posted, open, +4000': ['another won by name'],
  'posted, void': ['free'],
  'NOT_A_BET, kept, open': ['known as a win'],
  'BET_ALREADY_SETTLED, kept, open': ['won by name', 'won without a name'],
  noted: ['unknown', 'refused', 'tombstone'],
  'noted, void': ['rolled back', 'reversed by the team', 'round void by the team'],
  'BET_ALREADY_SETTLED, kept, closed': 'otherwise',
}

/** Of each message, in which states it is judged how; with what it moves. */
const table: Record<Message, Verdicts> = {
  'the same bet': {
    'KYC_NOT_APPROVED, kept': ['unknown'],
    'RG_BLOCKED, kept again': ['refused'],
    'KYC_NOT_APPROVED, kept, open': ['known as a win'],
    'posted again, closed': ['round closed', 'round closed by the team', 'a spin'],
    'posted again, open': ['posted', 'won by name', 'won without a name', 'another won by name', 'free'],
    TRANSACTION_ROLLED_BACK: 'otherwise',
  },
  'another bet under its id': {
    TRANSACTION_ROLLED_BACK: ['tombstone'],
    'posted, open, -4001': ['unknown', 'known as a win'],
    TRANSACTION_CONFLICT: 'otherwise',
  },
  'a bet of somebody else under its id': {
    'posted, open': ['unknown', 'known as a win'],
    TRANSACTION_CONFLICT: 'otherwise',
  },
  'another bet': {
    'ROUND_VOIDED, kept, void': ['rolled back', 'reversed by the team', 'round void by the team'],
    'ROUND_CLOSED, kept, closed': ['round closed', 'round closed by the team', 'a spin'],
    'posted, open, -1000': 'otherwise',
  },
  'a spin of the round': {
    'ROUND_VOIDED, kept, void': ['rolled back', 'reversed by the team', 'round void by the team'],
    'ROUND_CLOSED, kept, closed': ['round closed', 'round closed by the team', 'a spin'],
    'posted, closed, +1000': 'otherwise',
  },
  'a win that names it': {
    'BET_REFUSED, kept': ['refused'],
    'ROUND_VOIDED, kept, open': ['rolled back, another stands'],
    'ROUND_VOIDED, kept': ['tombstone'],
    BET_NOT_FOUND: ['unknown', 'known as a win'],
    'ROUND_VOIDED, kept, void': ['rolled back', 'reversed by the team', 'round void by the team'],
    'posted, closed, +700': ['round closed', 'round closed by the team', 'a spin'],
    'posted, open, +700': 'otherwise',
  },
  'a win that names none': {
    BET_NOT_FOUND: ['unknown'],
    'BET_REFUSED, kept': ['refused'],
    'ROUND_VOIDED, kept': ['tombstone'],
    'ROUND_VOIDED, kept, void': ['rolled back', 'reversed by the team', 'round void by the team'],
    'posted, closed, +700': ['round closed', 'round closed by the team', 'a spin'],
    'posted, open, +700': 'otherwise',
  },
  'a win of nothing': {
    'BET_REFUSED, kept': ['refused'],
    'ROUND_VOIDED, kept, open': ['rolled back, another stands'],
    'ROUND_VOIDED, kept': ['tombstone'],
    BET_NOT_FOUND: ['unknown', 'known as a win'],
    'ROUND_VOIDED, kept, void': ['rolled back', 'reversed by the team', 'round void by the team'],
    'posted, closed': ['round closed', 'round closed by the team', 'a spin'],
    'posted, open': 'otherwise',
  },
  'a prize': {
    'posted, +700': 'otherwise',
  },
  'its rollback': rolledBack,
  'a rollback under its id': rolledBack,
  close: {
    BET_NOT_FOUND: ['unknown', 'refused', 'tombstone'],
    'still void': ['rolled back', 'reversed by the team', 'round void by the team'],
    'still closed': ['round closed', 'round closed by the team', 'a spin'],
    closed: 'otherwise',
  },
  'void by the team': {
    'void, +4000': ['posted'],
    'void, +1000': ['rolled back, another stands'],
    void: ['free'],
    ROUND_NOT_FOUND: ['unknown', 'refused', 'tombstone'],
    ROUND_HAS_WINS: ['won by name', 'won without a name', 'another won by name', 'known as a win'],
    ROUND_NOT_OPEN: 'otherwise',
  },
  'end by the team': {
    ROUND_NOT_FOUND: ['unknown', 'refused', 'tombstone'],
    ROUND_NOT_OPEN: [
      'rolled back',
      'reversed by the team',
      'round closed',
      'round closed by the team',
      'round void by the team',
      'a spin',
    ],
    closed: 'otherwise',
  },
}

const verdictOf = (message: Message, state: State): string => {
  const verdicts = Object.entries(table[message])
  const own = verdicts.find(([, among]) => among !== 'otherwise' && among.includes(state))
  return (own ?? verdicts.find(([, among]) => among === 'otherwise'))?.[0] ?? ''
}

/** What the team's reversal of a stake is. */
function reversalOfStake(books: Books): Posting {
  const stake = [...books.transfers.values()].find(({ type }) => type === 'BET')
  const back = reversal(ana, 'rev', stake?.amount ?? 0n, stake?.id ?? '')
  return { ...back, kind: 'credit', counterparty: 'play', party: 'prv_1' } as Posting
}

const withMoney = () => {
  const books = new Books()
  books.post(credit(ana, 'd', 10_000n), credit(bia, 'e', 10_000n))
  return books
}

for (const state of Object.keys(states) as State[])
  for (const message of Object.keys(messages) as Message[])
    t.test(`${message}, where it is ${state}: ${verdictOf(message, state)}`, async (t) => {
      const [books, before, sent] = [withMoney(), states[state](), messages[message](state)]
      for (const posting of before) books.post(posting === 'reverse' ? reversalOfStake(books) : posting)
      const was = books.balance(ana).posted
      const [outcome] = books.post(sent)
      const moved = books.balance(ana).posted - was
      t.equal(`${told(outcome)}${moved === 0n ? '' : `, ${moved > 0n ? '+' : ''}${moved}`}`, verdictOf(message, state))
      t.same(books.faults(), [])
      if (outcome?.outcome === 'play') t.notOk(refusedWithoutPlay.has(outcome.play.refusedWith ?? ''))
      if (outcome?.outcome === 'not kept') t.equal(refusedWithoutPlay.has(outcome.code), outcome.code in providerErrors)
      const now = books.balance(ana)
      books.post(sent)
      t.same(books.balance(ana), now, 'once more, it moves nothing')

      const postings = before.filter((posting) => posting !== 'reverse')
      if (postings.length < before.length) return
      const together = withMoney()
      t.equal(told(together.post(...postings, sent).at(-1)), told(outcome), 'all in one batch')
      t.same(together.balance(ana), now)
      t.same(together.faults(), [])
    })

const id = fc.constantFrom('b', 'c', 'd', 'e')
const sent: fc.Arbitrary<Posting> = fc
  .record({ kind: fc.nat(7), id, other: id, amount: fc.nat(60).map(BigInt), flag: fc.boolean() })
  .map(({ kind, id, other, amount, flag }) => {
    const own = { providerRoundId: id < 'd' ? 'r' : 'q' }
    const named = { ...own, betTransactionId: flag ? other : null, endsRound: amount === 7n }
    if (kind < 3) return bet(ana, id, flag ? 20n : amount + 1n, own)
    if (kind === 3) return win(ana, id, amount, named)
    if (kind === 4) return rollback(ana, flag ? id : other, other, own)
    if (kind === 5) return flag ? close(ana, own) : spin(ana, `s${id}`, 10n, amount, { providerRoundId: `s${id}` })
    if (kind === 6) return end(ana, flag ? 'void' : 'closed', own)
    return credit(ana, `d${id}${amount}`, amount + 1n)
  })

t.test('property: in which batches messages come changes no verdict, and the books are sound', async (t) => {
  fc.assert(
    fc.property(fc.array(sent, { maxLength: 60, size: 'max' }), fc.integer({ min: 1, max: 9 }), (all, size) => {
      const [together, apart] = [withMoney(), withMoney()]
      const outcomes = together.post(...all).map(told)
      const parts: string[] = []
      for (let begin = 0; begin < all.length; begin += size)
        parts.push(...apart.post(...all.slice(begin, begin + size)).map(told))
      t.strictSame(parts, outcomes)
      t.same(apart.balance(ana), together.balance(ana))
      t.same([...together.faults(), ...apart.faults()], [])
    }),
    { numRuns: 150 },
  )
})

t.test('a credit of play is stopped by no cap of corrections, and one that no balance holds is a fault', async (t) => {
  const books = withMoney()
  books.post(credit(ana, 'e2', balanceByTeamMax), bet(ana, 'b', 4000n))
  for (const [number, winKind] of (['win', 'jackpot', 'free_round', 'promotion'] as const).entries())
    t.match(books.post(win(ana, `w${number}`, 5000n, { winKind })).map(told), ['posted, open'], winKind)
  books.post(bet(ana, 'c', 4000n))
  t.match(books.post(rollback(ana, 'x', 'c', { providerRoundId: 'r' })).map(told), [/SETTLED/])
  books.post(bet(ana, 'd', 4000n, { providerRoundId: 'q' }))
  t.match(books.post(rollback(ana, 'y', 'd', { providerRoundId: 'q' })).map(told), ['posted, void'])
  t.ok(books.balance(ana).posted > balanceByTeamMax)
  const most = 2n ** 63n - 1n - books.balance(ana).posted
  const over = win(ana, 'v', most + 1n, { maxWin: 2n ** 63n })
  t.match(books.post(over), [{ outcome: 'fault' }])
  t.match(books.post(win(ana, 'u', most, { maxWin: 2n ** 63n })).map(told), ['posted, open'])
  t.same(books.faults(), [])
})
