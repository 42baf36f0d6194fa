import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { fromMinorUnits, operations } from '@backoffice/contracts'
import { hourMs } from '@backoffice/process'
import { refusal } from '@backoffice/test-kit'
import fc from 'fast-check'
import { playerRequest } from '../journey.ts'
import {
  type Book,
  type BookedDeposit,
  type BookedPlayer,
  blockedDeposit,
  compareStatement,
  compareWallet,
  type Decision,
  decideKyc,
  failingWithdrawal,
  outcomeOf,
  post,
  type Reached,
  reason,
  register,
  sendDecision,
  stakedGame,
  withdrawable,
} from './book.ts'

type Step = fc.AsyncCommand<Book, Reached>

const people = ['alice', 'bob'] as const

const nth = <T>(list: readonly T[], index: number): T => list[index % list.length] as T
const any = fc.nat({ max: 1_000 })
const roundAmounts = fc.integer({ min: 1, max: 4 }).map((count) => BigInt(count) * 5_000n)
/** The largest that a request may name. */
const amountMax = 10n ** 15n - 1n
const edges = ['all that is left', 'a centavo more'] as const
/** Round, special, or at the edge of a limit or a balance. */
const amounts = fc.oneof(
  { weight: 6, arbitrary: roundAmounts },
  { weight: 3, arbitrary: fc.constantFrom(...edges) },
  { weight: 1, arbitrary: fc.constantFrom(1n, blockedDeposit, failingWithdrawal, amountMax) },
)
type DrawnAmount = bigint | (typeof edges)[number]

/** @param left null where nothing limits the amount */
function amountOf(drawn: DrawnAmount, left: bigint | null): bigint {
  if (typeof drawn === 'bigint') return drawn
  if (left === null || left <= 0n) return 5_000n
  if (left >= amountMax) return amountMax
  return drawn === 'all that is left' ? left : left + 1n
}

/** What the daily limit leaves for today. */
function leftToday(book: Book, player: BookedPlayer, now: number): bigint | null {
  const limit = book.limitOf(player, now)
  return limit === null ? null : limit - book.dayTotal(player, now)
}

const currencies = fc.oneof({ weight: 9, arbitrary: fc.constant('BRL') }, { weight: 1, arbitrary: fc.constant('USD') })
/** How often one request is sent at once, under one key. */
const copies = fc.constantFrom(1, 1, 1, 2, 3)

/** A step of a name, with what it was drawn from; it is left out where it does not apply. */
function step<Drawn>(
  name: string,
  drawn: fc.Arbitrary<Drawn>,
  run: (book: Book, reached: Reached, drawn: Drawn) => Promise<void>,
  applies: (book: Book) => boolean = () => true,
): fc.Arbitrary<Step> {
  return drawn.map((values) => ({
    check: applies,
    run: (book, reached) => run(book, reached, values),
    toString: () => `${name} ${fc.stringify(values)}`,
  }))
}

type Noun = 'players' | 'deposits' | 'withdrawals'

/** A step with one of the players, deposits or withdrawals, whichever was drawn; it is left out while there is none. */
const stepWith = <Of extends Noun, Drawn>(
  nouns: Of,
  name: string,
  drawn: { readonly [Key in keyof Drawn]: fc.Arbitrary<Drawn[Key]> },
  run: (book: Book, reached: Reached, each: Book[Of][number], drawn: Drawn) => Promise<void>,
): fc.Arbitrary<Step> =>
  step(
    name,
    fc.record({ which: any, ...drawn }) as fc.Arbitrary<Drawn & { readonly which: number }>,
    (book, reached, values) => run(book, reached, nth<Book[Of][number]>(book[nouns], values.which), values),
    (book) => book[nouns].length > 0,
  )

interface DrawnDeposit {
  readonly amount: DrawnAmount
  readonly currency?: string
  readonly reference?: string
  readonly sent?: number
}

async function deposit(book: Book, reached: Reached, player: BookedPlayer, drawn: DrawnDeposit): Promise<void> {
  const now = reached.clock.time
  const { currency = 'BRL', reference = randomUUID(), sent = 1 } = drawn
  const amount = amountOf(drawn.amount, leftToday(book, player, now))
  const expected = book.admitsDeposit(player, { amount, currency, reference }, now)
  const request = { amount: fromMinorUnits(amount), currency, method: 'pix', externalReference: reference }
  const reply = await post(reached, `/players/${player.id}/deposits`, request, sent)
  assert.equal(outcomeOf(reply), expected)
  if (expected === 'done')
    book.deposits.push({ id: reply.body.id, player, amount, reference, at: now, status: 'pending' })
}

const settle =
  (command: 'confirm' | 'fail') =>
  async (book: Book, reached: Reached, each: BookedDeposit, { sent }: { readonly sent: number }): Promise<void> => {
    const reply = await post(reached, `/deposits/${each.id}/${command}`, {}, sent)
    const before = each.status
    assert.equal(outcomeOf(reply), book.settles(each, command))
    if (before !== 'pending') assert.equal(reply.body.error.details.status, before)
    await compareWallet(reached, each.player)
  }

async function openGame(book: Book, reached: Reached, each: BookedPlayer): Promise<void> {
  const reply = await post(reached, `/players/${each.id}/game-sessions`, { gameId: stakedGame })
  // Its URL is shown once, and production has no provider here: neither is replayed byte for byte.
  reached.last = null
  const expected = book.admitsToPlay(each, reached.clock.time)
  assert.equal(outcomeOf(reply), expected === 'done' && !book.isSandbox ? 'PROVIDER_UNAVAILABLE' : expected)
  if (outcomeOf(reply) === 'done')
    each.session = { id: reply.body.id, expiresAt: new Date(reply.body.expiresAt).getTime() }
}

/** A step that is drawn as often as several others. */
const often = (times: number, one: fc.Arbitrary<Step>): fc.Arbitrary<Step>[] => Array.from({ length: times }, () => one)

/** Every step that the random tests take. */
export const steps: fc.Arbitrary<Step>[] = [
  step(
    'register a person, who may be known',
    fc.option(any),
    (book, reached, known) => register(book, reached, known === null ? undefined : nth(book.players, known).cpf),
    ({ players }) => players.length < 4,
  ),

  stepWith('players', 'register again', {}, async (_book, reached, { id, externalId }) => {
    const reply = await post(reached, '/players', playerRequest(externalId))
    assert.equal(outcomeOf(reply), 'PLAYER_ALREADY_EXISTS')
    assert.equal(reply.body.error.details.playerId, id)
  }),

  stepWith('players', 'submit documents', {}, async (book, reached, each) => {
    const submission = { documentType: 'rg', reference: randomUUID() }
    const reply = await post(reached, `/players/${each.id}/kyc/submissions`, submission)
    assert.equal(outcomeOf(reply), book.submitsDocuments(each))
  }),

  stepWith(
    'players',
    'decide KYC',
    { status: fc.constantFrom('aprovado', 'aprovado', 'reprovado', 'expirado') },
    (book, reached, each, { status }) => decideKyc(book, reached, each, status),
  ),

  stepWith(
    'players',
    'set status',
    { status: fc.constantFrom('ativo', 'ativo', 'ativo', 'ativo', 'suspenso', 'autoexcluido') },
    async (book, { team, agreed }, each, { status }) => {
      const input = { playerId: each.id, status, reason }
      const outcome = (await refusal(team('alice', operations.players.setPlayerStatus, input))) ?? 'done'
      assert.equal(outcome, book.setsStatusAlone(each, status))
      if (outcome === 'AWAITS_APPROVAL') await agreed(operations.players.setPlayerStatus, input)
      each.status = status
    },
  ),

  stepWith(
    'players',
    'self-exclude',
    { hours: fc.option(fc.integer({ min: -1, max: 12 }), { freq: 9 }) },
    async (book, { team, clock }, each, { hours }) => {
      const until = hours === null ? null : clock.time + hours * hourMs
      const input = { playerId: each.id, until: until === null ? null : new Date(until).toISOString() }
      const outcome = (await refusal(team('bob', operations.players.selfExcludePlayer, input))) ?? 'done'
      assert.equal(outcome, book.excludes(each, until, clock.time))
    },
  ),

  stepWith(
    'players',
    'set daily limit',
    { limit: fc.option(roundAmounts, { freq: 4 }) },
    async (book, { team, clock }, each, { limit }) => {
      const dailyDepositLimit = limit === null ? null : fromMinorUnits(limit)
      await team('alice', operations.players.setDailyLimit, { playerId: each.id, dailyDepositLimit })
      book.setsLimit(each, limit, clock.time)
    },
  ),

  step('time passes', fc.record({ hours: fc.integer({ min: 1, max: 14 }) }), async (_book, { clock }, { hours }) => {
    await clock.pass(hours * hourMs)
  }),

  ...often(3, stepWith('players', 'deposit', { amount: amounts, currency: currencies, sent: copies }, deposit)),

  stepWith(
    'deposits',
    'deposit with a reference that is taken',
    { player: any, amount: amounts },
    (book, reached, { reference }, { player, amount }) =>
      deposit(book, reached, nth(book.players, player), { amount, reference }),
  ),

  stepWith(
    'players',
    'several deposits at once',
    { amount: amounts, count: fc.integer({ min: 2, max: 5 }) },
    async (book, reached, each, { amount: drawn, count }) => {
      const now = reached.clock.time
      const references = Array.from({ length: count }, () => randomUUID())
      const amount = amountOf(drawn, leftToday(book, each, now))
      const replies = await Promise.all(
        references.map((externalReference) => {
          const request = { amount: fromMinorUnits(amount), currency: 'BRL', method: 'pix', externalReference }
          return post(reached, `/players/${each.id}/deposits`, request)
        }),
      )
      reached.last = null
      const judge = (reference: string) => book.admitsDeposit(each, { amount, currency: 'BRL', reference }, now)
      for (const { status, body } of replies) {
        if (status !== 201) continue
        const { id, externalReference: reference } = body
        assert.equal(judge(reference), 'done')
        book.deposits.push({ id, player: each, amount, reference, at: now, status: 'pending' })
      }
      // They differ in their references alone, so whoever was refused would be refused now.
      const refused = replies.filter(({ status }) => status !== 201).map(outcomeOf)
      assert.deepEqual(
        refused,
        refused.map(() => judge(randomUUID())),
      )
    },
  ),

  ...often(3, stepWith('deposits', 'confirm', { sent: copies }, settle('confirm'))),

  stepWith('deposits', 'fail', { sent: copies }, settle('fail')),

  stepWith('deposits', 'confirm and fail at once', {}, async (book, reached, each) => {
    const wasPending = each.status === 'pending'
    const commands = ['confirm', 'fail'] as const
    const replies = await Promise.all(commands.map((command) => post(reached, `/deposits/${each.id}/${command}`)))
    reached.last = null
    const won = replies.findIndex(({ status }) => status === 200)
    assert.equal(replies.filter(({ status }) => status === 200).length, wasPending ? 1 : 0)
    if (won !== -1) assert.equal(book.settles(each, commands[won] as 'confirm' | 'fail'), 'done')
    for (const reply of replies.filter(({ status }) => status !== 200))
      assert.equal(outcomeOf(reply), 'DEPOSIT_NOT_PENDING')
    await compareWallet(reached, each.player)
  }),

  ...often(
    2,
    stepWith(
      'players',
      'withdraw',
      { amount: amounts, currency: currencies, sent: copies },
      async (book, reached, each, { amount: drawn, currency, sent }) => {
        const amount = amountOf(drawn, withdrawable(each))
        const request = { amount: fromMinorUnits(amount), currency, method: 'pix', destination: 'ana@example.com' }
        const reply = await post(reached, `/players/${each.id}/withdrawals`, request, sent)
        const expected = book.admitsWithdrawal(each, amount, currency)
        assert.equal(outcomeOf(reply), expected)
        if (expected === 'done') book.requested(reply.body.id, each, amount)
        await compareWallet(reached, each)
      },
    ),
  ),

  stepWith(
    'players',
    'several withdrawals at once',
    { parts: fc.integer({ min: 1, max: 4 }), count: fc.integer({ min: 2, max: 5 }) },
    async (book, reached, each, { parts, count }) => {
      const amount = withdrawable(each) / BigInt(parts)
      if (amount === 0n || amount > amountMax) return
      const request = { amount: fromMinorUnits(amount), currency: 'BRL', method: 'pix', destination: 'ana@example.com' }
      const path = `/players/${each.id}/withdrawals`
      const replies = await Promise.all(Array.from({ length: count }, () => post(reached, path, request)))
      reached.last = null
      const outcomes = replies.map(outcomeOf)
      for (const reply of replies.filter(({ status }) => status === 201)) {
        assert.equal(book.admitsWithdrawal(each, amount, 'BRL'), 'done')
        book.requested(reply.body.id, each, amount)
      }
      // Whoever was refused would be refused now.
      const refused = outcomes.filter((outcome) => outcome !== 'done')
      assert.deepEqual(
        refused,
        refused.map(() => book.admitsWithdrawal(each, amount, 'BRL')),
      )
      await compareWallet(reached, each)
    },
  ),

  stepWith('withdrawals', 'cancel', { sent: copies }, async (book, reached, each, { sent }) => {
    const reply = await post(reached, `/withdrawals/${each.id}/cancel`, {}, sent)
    assert.equal(outcomeOf(reply), book.cancels(each))
    await compareWallet(reached, each.player)
  }),

  ...often(
    3,
    stepWith(
      'withdrawals',
      'decide',
      {
        decision: fc.constantFrom<Decision>('approve', 'approve', 'pay', 'pay', 'reject'),
        by: fc.constantFrom(...people),
      },
      async (book, reached, each, { decision, by }) => {
        const outcome = await sendDecision(book, reached, each.id, decision, by)
        assert.equal(outcome, book.decides(each, decision, book.isSandbox ? null : by))
        await compareWallet(reached, each.player)
      },
    ),
  ),

  stepWith('withdrawals', 'cancel and approve at once', {}, async (book, reached, each) => {
    const wasUnderReview = each.status === 'under_review'
    const [cancelled, approved] = await Promise.all([
      post(reached, `/withdrawals/${each.id}/cancel`).then(outcomeOf),
      sendDecision(book, reached, each.id, 'approve', 'alice'),
    ])
    reached.last = null
    if (cancelled === 'done') assert.equal(book.cancels(each), 'done')
    else if (approved === 'done') assert.equal(book.decides(each, 'approve', book.isSandbox ? null : 'alice'), 'done')
    assert.equal([cancelled, approved].filter((outcome) => outcome === 'done').length, wasUnderReview ? 1 : 0)
    await compareWallet(reached, each.player)
  }),

  stepWith('players', 'play', {}, openGame),

  ...often(
    2,
    stepWith(
      'players',
      'spin',
      { amount: amounts, prize: fc.option(roundAmounts), sent: copies, isNew: fc.boolean() },
      async (book, reached, each, { amount: drawn, prize, sent, isNew }) => {
        if (isNew) await openGame(book, reached, each)
        if (each.session === null) return
        const [stake, win, name] = [amountOf(drawn, withdrawable(each)), prize ?? 0n, randomUUID()]
        const spin = {
          ...{ transactionId: name, roundId: name, sessionId: each.session.id, playerId: each.id, gameId: stakedGame },
          ...{ amount: fromMinorUnits(stake), win: fromMinorUnits(win), currency: 'BRL' },
        }
        const expected = book.spins(each, { stake, win }, reached.clock.time)
        const outcomes = await Promise.all(Array.from({ length: sent }, () => reached.spin(spin)))
        for (const outcome of outcomes) assert.equal(outcome, expected)
        await compareWallet(reached, each)
      },
    ),
  ),

  stepWith(
    'players',
    'read a statement',
    { limit: fc.integer({ min: 1, max: 9 }) },
    (_book, reached, each, { limit }) => compareStatement(reached, each, limit),
  ),

  step('retry the last request', fc.constant(null), async (_book, reached) => {
    if (reached.last === null) return
    const { path, body, key, reply } = reached.last
    const call = { idempotencyKey: key, timestamp: Math.floor(reached.clock.time / 1_000) }
    const again = await reached.operator.post(path, body, call)
    assert.deepEqual([again.status, again.bytes], [reply.status, reply.bytes])
    assert.equal(again.headers['idempotent-replayed'], 'true')
    const other = await reached.operator.post(path, { other: true }, call)
    assert.equal(outcomeOf(other), 'IDEMPOTENCY_CONFLICT')
  }),
]
