import { randomUUID } from 'node:crypto'
import { type Input, operations, type Scope } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { hourMs, newId } from '@backoffice/process'
import { newCpf, newPlayer, TestTime, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { players } from '../../src/service.ts'

const { registerPlayer, decideKyc, openGameSession, setGameProvider, setGameAvailability } = operations.players
const { setPlayerStatus, selfExcludePlayer, setDailyLimit } = operations.players
const { placeBet, playSpin, readPlaySession } = operations.players
const { creditWin, readBalance } = operations.wallet

const time = new TestTime(new Date('2026-03-02T12:00:00.000Z'))
const bed = await testBed(t, { players, wallet, payments }, { time })
const alice = bed.team('alice')
const admin = bed.sql('admin')
const advance = (ms: number) => time.set(new Date(time.now().getTime() + ms))
const house = newId('prv')
const gameId = 'wallet-reels'
const reason = 'a test'

/** The scope of a call of a provider. */
const of = (scope: Scope, provider: Partial<NonNullable<Scope['provider']>> = {}): Scope => ({
  ...scope,
  provider: { id: house, bodyDigest: 'ab'.repeat(32), ...provider },
})
const sandbox = bed.scope()
const scope = of(sandbox)

await alice.call(setGameProvider, { input: { gameId, providerId: house } })

/** A player who may stake, with 100.00 and a session of the game. */
async function newStaker(person: { readonly cpf?: string } = {}) {
  const { id: playerId } = await bed.rpc.call(registerPlayer, { scope: sandbox, input: { ...newPlayer(), ...person } })
  await alice.call(decideKyc, { input: { playerId, submission: null, status: 'aprovado', reason } })
  const money = { amount: '100.00', currency: 'BRL', method: 'pix', externalReference: randomUUID() }
  const { id: depositId } = await bed.rpc.call(operations.payments.createDeposit, {
    scope: sandbox,
    input: { playerId, ...money },
  })
  await bed.rpc.call(operations.payments.confirmDeposit, { scope: sandbox, input: { depositId } })
  const { id: sessionId } = await bed.rpc.call(openGameSession, { scope: sandbox, input: { playerId, gameId } })
  return { playerId, sessionId }
}
type Staker = Awaited<ReturnType<typeof newStaker>>

const betOf = (staker: Staker, said: Partial<Input<typeof placeBet>> = {}): Input<typeof placeBet> => {
  const transactionId = randomUUID()
  return {
    ...staker,
    transactionId,
    roundId: `of ${transactionId}`.replace(' ', '-'),
    gameId,
    amount: '1.00',
    currency: 'BRL',
    ...said,
  }
}
const bet = (input: Input<typeof placeBet>, as = scope) => bed.rpc.call(placeBet, { scope: as, input })
const win = ({ playerId, roundId, transactionId }: Input<typeof placeBet>, as = scope) =>
  bed.rpc.call(creditWin, {
    scope: as,
    input: { playerId, roundId, transactionId: `win-of-${transactionId}`, amount: '2.00', currency: 'BRL' },
  })
const balance = ({ playerId }: Staker) => bed.rpc.call(readBalance, { scope: sandbox, input: { playerId } })
/** What the wallet keeps of a bet. */
const keptOf = async (transactionId: string) =>
  (
    await admin.query('select outcome, refused_with, standing from wallet.play where transaction_id = $1', [
      transactionId,
    ])
  ).rows[0]

const exclude = ({ playerId }: Staker) =>
  alice.call(selfExcludePlayer, {
    input: { playerId, until: new Date(time.now().getTime() + hourMs).toISOString(), reason },
  })
const setLimit = ({ playerId }: Staker, dailyDepositLimit: string | null) =>
  alice.call(setDailyLimit, { input: { playerId, dailyDepositLimit, reason } })
const setKyc = ({ playerId }: Staker, status: 'aprovado' | 'reprovado') =>
  alice.call(decideKyc, { input: { playerId, submission: null, status, reason } })

t.test('a bet is taken from the wallet, and a spin with its win', async (t) => {
  const staker = await newStaker()
  t.match(await bet(betOf(staker, { amount: '10.00' })), { amount: '10.00', balance: '90.00', roundState: 'open' })
  const spin = await bed.rpc.call(playSpin, { scope, input: { ...betOf(staker), win: '4.00' } })
  t.match(spin, { amount: '1.00', win: '4.00', balance: '93.00', roundState: 'closed' })
  t.equal((await balance(staker)).withdrawable, '93.00')
})

interface Refused {
  readonly what: string
  readonly code: string
  readonly details?: object
  readonly as?: Scope
  /** Brings it about. @returns what the bet says else */
  readonly cause: (staker: Staker) => Promise<Partial<Input<typeof placeBet>> | unknown>
}
const nothing = async () => ({})
const refusals: readonly Refused[] = [
  { what: 'an unknown session', code: 'SESSION_NOT_FOUND', cause: async () => ({ sessionId: 'ses_of_nobody' }) },
  {
    what: "a session of another provider's game",
    code: 'SESSION_NOT_FOUND',
    as: of(sandbox, { id: newId('prv') }),
    cause: nothing,
  },
  {
    what: 'a suspended operator',
    code: 'OPERATOR_SUSPENDED',
    as: of(sandbox, { stakesRefusedWith: 'OPERATOR_SUSPENDED' }),
    cause: nothing,
  },
  { what: 'a self-exclusion', code: 'RG_BLOCKED', details: { reason: 'self_exclusion' }, cause: exclude },
  {
    what: 'a closed player',
    code: 'PLAYER_NOT_ACTIVE',
    details: { status: 'encerrado' },
    cause: ({ playerId }) => alice.call(setPlayerStatus, { input: { playerId, status: 'encerrado', reason } }),
  },
  {
    what: 'an identity check that was taken back',
    code: 'KYC_NOT_APPROVED',
    details: { kycStatus: 'reprovado' },
    cause: (staker) => setKyc(staker, 'reprovado'),
  },
  {
    what: "a day's deposits over the limit",
    code: 'RG_BLOCKED',
    details: { reason: 'daily_limit' },
    cause: (staker) => setLimit(staker, '99.99'),
  },
  { what: 'a session that is over', code: 'SESSION_EXPIRED', cause: async () => advance(hourMs) },
  { what: 'too little money', code: 'INSUFFICIENT_FUNDS', cause: async () => ({ amount: '100.01' }) },
]

for (const { what, code, details, as = scope, cause } of refusals)
  t.test(`${what} refuses a stake with ${code}, which stays, and what was begun is won`, async (t) => {
    const staker = await newStaker()
    const begun = betOf(staker, { amount: '1.00' })
    await bet(begun)
    const caused = (await cause(staker)) as Partial<Input<typeof placeBet>>
    const said = ['sessionId', 'amount'].filter((name) => Object.hasOwn(caused ?? {}, name))
    const refused = betOf(staker, Object.fromEntries(said.map((name) => [name, caused[name as 'amount']])))
    const thrown = { code, ...(details === undefined ? {} : { details }) }
    await t.rejects(bet(refused, as), thrown)
    await t.rejects(bet(refused, as), thrown, 'again')
    // Doubling in a hand is a stake as well.
    if (as === scope)
      await t.rejects(bet({ ...refused, transactionId: randomUUID(), roundId: begun.roundId }, as), thrown)
    if (as === scope || as.provider?.id === house) t.match(await bet(begun, as), { replayed: true, applied: true })
    t.match(await win(begun), { applied: true, amount: '2.00', balance: '101.00' })
    t.equal((await balance(staker)).withdrawable, '101.00')
  })

t.test('a game that was taken out of the catalogue takes no stake', async (t) => {
  const staker = await newStaker()
  const set = (available: boolean) =>
    alice.call(setGameAvailability, { input: { brandId: sandbox.brandId, gameId, available } })
  await set(false)
  await t.rejects(bet(betOf(staker)), { code: 'GAME_NOT_FOUND' })
  await set(true)
  t.ok(await bet(betOf(staker)))
})

t.test('a player of another brand is unknown, and nothing is kept of the stake', async (t) => {
  const staker = await newStaker()
  const elsewhere = of(bed.scope({ brandId: newId('brd') }))
  const input = betOf(staker)
  await t.rejects(bet(input, elsewhere), { code: 'PLAYER_NOT_FOUND' })
  await t.rejects(bet({ ...input, playerId: 'ply_nobody' }), { code: 'PLAYER_NOT_FOUND' })
  t.ok(await bet(input))
})

t.test('a self-exclusion of the same person by another account refuses the stakes of all', async (t) => {
  const cpf = newCpf()
  const [one, other] = [await newStaker({ cpf }), await newStaker({ cpf })]
  t.ok(await bet(betOf(other)))
  await exclude(one)
  await t.rejects(bet(betOf(other)), { code: 'RG_BLOCKED', details: { reason: 'self_exclusion' } })
  await admin.query('update players.player set cpf_digest = null where id = $1', [other.playerId])
  await t.rejects(bet(betOf(other)), { code: 'RG_BLOCKED' }, 'also where its digest is still to be written')
  await advance(hourMs)
  await t.rejects(bet(betOf(other)), { code: 'SESSION_EXPIRED' }, 'it has ended, as has the session')
})

t.test(
  'a bet that was booked is answered so, and one that was refused stays refused, whatever holds now',
  async (t) => {
    const staker = await newStaker()
    const taken = betOf(staker)
    await bet(taken)
    await setLimit(staker, '50.00')
    const refused = betOf(staker)
    await t.rejects(bet(refused), { code: 'RG_BLOCKED' })
    t.match(await bet(taken), { replayed: true, applied: true })
    await setLimit(staker, '500.00')
    // It holds after the cooling-off, when the session is over: another one.
    await advance(24 * hourMs)
    const { id: sessionId } = await bed.rpc.call(openGameSession, {
      scope: sandbox,
      input: { playerId: staker.playerId, gameId },
    })
    t.ok(await bet(betOf({ ...staker, sessionId })))
    await t.rejects(bet(refused), { code: 'RG_BLOCKED', details: { reason: 'daily_limit' } })
    t.match(await keptOf(refused.transactionId), { outcome: 'refused', refused_with: 'RG_BLOCKED' })
  },
)

t.test(
  'while payments does not say what was deposited, a stake under a limit is not decided, and then it is',
  async (t) => {
    const limited = await newStaker()
    const free = await newStaker()
    await setLimit(limited, '1000.00')
    const input = betOf(limited)
    await bed.services.payments.drain()
    await t.rejects(bet(input), { code: 'SERVICE_UNAVAILABLE' })
    t.equal(await keptOf(input.transactionId), undefined)
    t.ok(await bet(betOf(free)), 'nobody else is asked about')
    await exclude(limited)
    await t.rejects(bet(betOf(limited)), { code: 'RG_BLOCKED' }, 'what refuses it anyway needs no sum')
    Object.assign(bed.services, { payments: await bed.start('payments') })
    const other = await newStaker()
    await setLimit(other, '1000.00')
    t.match(await bet(betOf(other)), { applied: true })
  },
)

t.test('the standing at the bet is kept with it', async (t) => {
  const staker = await newStaker()
  await setLimit(staker, '1000.00')
  const input = betOf(staker)
  await bet(input)
  t.same(JSON.parse((await keptOf(input.transactionId)).standing), {
    status: 'ativo',
    kycStatus: 'aprovado',
    dailyLimit: '1000.00',
    dayDeposits: '100.00',
    rtp: '95.00',
  })
})

t.test('of bets while somebody excludes themselves none is booked that came after the answer', async (t) => {
  const staker = await newStaker()
  let isExcluded = false
  const late: Promise<unknown>[] = []
  const bets = async () => {
    for (let count = 0; count < 40; count++) {
      const input = betOf(staker, { amount: '0.01' })
      if (isExcluded)
        late.push(
          bet(input).then(
            () => 'booked',
            ({ code }) => code,
          ),
        )
      else await bet(input).catch(() => {})
    }
  }
  const excluded = exclude(staker).then(() => {
    isExcluded = true
  })
  await Promise.all([bets(), bets(), bets(), excluded])
  const after = await Promise.all(late)
  t.ok(after.length > 0)
  t.same(new Set(after), new Set(['RG_BLOCKED']))
})

t.test('a bet costs players one statement, and many that arrive together share one', async (t) => {
  const stakers = await Promise.all(Array.from({ length: 4 }, () => newStaker()))
  const [first] = stakers as [Staker, ...Staker[]]
  let reads = 0
  // All connections of this process are of one class: what requests of players read is told by the login.
  const client = await admin.connect()
  const sent = Object.getPrototypeOf(client)
  client.release()
  const { query } = sent
  t.intercept(sent, 'query', {
    value(this: { readonly user: string }, ...said: unknown[]) {
      if (this.user === 'backoffice_players_reader') reads += 1
      return query.apply(this, said)
    },
  })
  const costs: number[] = []
  for (let count = 0; count < 5; count++) {
    reads = 0
    await bet(betOf(first, { amount: '0.01' }))
    costs.push(reads)
  }
  // Now and then the service reads something by itself.
  t.equal(Math.min(...costs), 1)
  reads = 0
  const inputs = Array.from({ length: 200 }, (_, index) => betOf(stakers[index % 4] as Staker, { amount: '0.01' }))
  await Promise.all(inputs.map((input) => bet(input)))
  t.ok(reads < 100, `${reads} for 200 stakes`)
})

t.test('a session is read with the balance that may be staked, also when it is over', async (t) => {
  const staker = await newStaker()
  const { playerId, sessionId } = staker
  const read = (as = scope) => bed.rpc.call(readPlaySession, { scope: as, input: { sessionId } })
  const withdrawal = { playerId, amount: '30.00', currency: 'BRL', method: 'pix', destination: 'ana@example.com' }
  await bed.rpc.call(operations.payments.requestWithdrawal, { scope: sandbox, input: withdrawal })
  const session = { sessionId, playerId, gameId, currency: 'BRL', balance: '70.00' }
  t.match(await read(), { ...session, state: 'open' })
  await t.rejects(bet(betOf(staker, { amount: '70.01' })), {
    code: 'INSUFFICIENT_FUNDS',
    details: { balance: '70.00' },
  })
  await exclude(staker)
  await advance(hourMs)
  t.match(await read(), { ...session, state: 'expired' })
  await t.rejects(read(of(sandbox, { id: newId('prv') })), { code: 'SESSION_NOT_FOUND' })
  await t.rejects(read(of(bed.scope({ brandId: newId('brd') }))), { code: 'SESSION_NOT_FOUND' })
})
