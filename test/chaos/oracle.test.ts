// What the oracle of the other files here must notice, and what it must take for possible.

import fc from 'fast-check'
import t from 'tap'
import { linearize, type Model, type Timed } from './linearizability.ts'
import { type Answer, type Call, isAbout, type PlayerOperation, walletModel, withdrawalModel } from './models.ts'
import { closeBook } from './oracle.ts'

const unknown = Number.POSITIVE_INFINITY

/** A register: the smallest thing that a history can be about. */
interface RegisterOperation extends Timed {
  readonly write?: number
  /** What was read. A read whose answer nobody heard fits everywhere. */
  readonly read?: number | undefined
}

const register: Model<number, RegisterOperation> = {
  initial: 0,
  step: (value, { write, read }) => {
    if (write !== undefined) return write
    return read === undefined || read === value ? value : null
  },
  keyOf: String,
}

t.test('the search finds an order exactly where trying all orders finds one', async () => {
  const operation = fc.record({
    calledAt: fc.integer({ min: 0, max: 8 }),
    lasts: fc.option(fc.integer({ min: 1, max: 6 }), { nil: unknown }),
    value: fc.integer({ min: 0, max: 2 }),
    writes: fc.boolean(),
  })
  const anyHistory = fc.array(operation, { maxLength: 6 }).map((operations) =>
    operations.map(({ calledAt, lasts, value, writes }): RegisterOperation => {
      const times = { calledAt, returnedAt: calledAt + lasts }
      return writes ? { ...times, write: value } : { ...times, read: value }
    }),
  )
  fc.assert(
    fc.property(anyHistory, (history) => {
      return (linearize(history, register).verdict === 'linearizable') === someOrderFits(history, 0)
    }),
    { numRuns: 1_000 },
  )
})

/** The definition, word for word: far too slow for anything long. */
function someOrderFits(rest: readonly RegisterOperation[], value: number): boolean {
  if (rest.every(({ returnedAt }) => returnedAt === unknown)) return true
  const firstReturn = Math.min(...rest.map(({ returnedAt }) => returnedAt))
  return rest.some((operation) => {
    if (operation.calledAt > firstReturn) return false
    const after = register.step(value, operation)
    const left = rest.filter((other) => other !== operation)
    return after !== null && someOrderFits(left, after)
  })
}

let moment = 0

/** One operation after the other, unless a test says otherwise. */
function operation(call: Call, answer?: Answer, changes: Partial<PlayerOperation> = {}): PlayerOperation {
  const calledAt = moment++
  const returnedAt = answer === undefined ? unknown : moment++
  return { client: 'client 1', call, answer, attempts: 1, calledAt, returnedAt, ...changes }
}

const record = (id: string, status: string): Answer => ({ kind: 'record', id, status })
const refused = (code: string, status?: string): Answer => ({ kind: 'refused', code, status })
const confirmed = (amount = 100n, depositId = 'd1') =>
  operation({ kind: 'confirmDeposit', depositId, amount }, record(depositId, 'confirmed'))
const failed = (answer: Answer) => operation({ kind: 'failDeposit', depositId: 'd1', amount: 100n }, answer)
const unheard = (call: Call) => operation(call)
const requested = (amount: bigint, answer = record('w1', 'under_review'), changes: Partial<PlayerOperation> = {}) =>
  operation({ kind: 'requestWithdrawal', amount }, answer, changes)
const decided = (kind: 'approve' | 'pay' | 'cancel', status: string) =>
  operation({ kind, withdrawalId: 'w1' }, record('w1', status))
const read = (status: string) => operation({ kind: 'readWithdrawal', withdrawalId: 'w1' }, record('w1', status))
const wallet = (available: bigint, withdrawable: bigint, changes: Partial<PlayerOperation> = {}) =>
  operation({ kind: 'readWallet' }, { kind: 'wallet', available, withdrawable }, changes)
const statement = (...amounts: readonly (readonly [string, bigint])[]) => {
  let balanceAfter = 0n
  const items = amounts.map(([referenceId, amount]) => {
    balanceAfter += amount
    return { referenceId, amount, balanceAfter }
  })
  return operation({ kind: 'readStatement' }, { kind: 'statement', items })
}

const ofWallet = (history: readonly PlayerOperation[]) => linearize(history, walletModel(history)).verdict
const ofWithdrawal = (history: readonly PlayerOperation[]) =>
  linearize(history.filter(isAbout('w1')), withdrawalModel('w1')).verdict

// What else is possible, each run of chaos.test.ts shows.
t.test('a request that was sent twice may have reserved its money, given it back and reserved it again', async (t) => {
  const history = [
    confirmed(),
    requested(40n, undefined, { calledAt: moment, returnedAt: moment + 100, attempts: 2 }),
    wallet(100n, 60n),
    wallet(100n, 100n),
    wallet(100n, 60n, { calledAt: moment + 101, returnedAt: moment + 102 }),
  ]
  t.equal(ofWallet(history), 'linearizable')
})

const approved = () => [requested(40n), decided('approve', 'approved')]
const impossible: Readonly<Record<string, () => readonly PlayerOperation[]>> = {
  'a confirmed deposit is missing': () => [confirmed(), wallet(0n, 0n)],
  'a deposit is credited twice': () => [confirmed(), wallet(200n, 200n)],
  'a deposit is in the statement twice': () => [confirmed(), statement(['d1', 100n], ['d1', 100n])],
  'a deposit is confirmed twice': () => [confirmed(), confirmed()],
  'a failed deposit is credited': () => [failed(record('d1', 'failed')), wallet(100n, 100n)],
  'somebody is told of a confirmation before the money is there': () => [
    unheard({ kind: 'confirmDeposit', depositId: 'd1', amount: 100n }),
    failed(refused('DEPOSIT_NOT_PENDING', 'confirmed')),
    wallet(0n, 0n),
  ],
  'a withdrawal reserves nothing': () => [confirmed(), requested(40n), wallet(100n, 100n)],
  'a withdrawal is accepted without the money': () => [requested(40n)],
  'a withdrawal is refused although the money is there': () => [
    confirmed(),
    requested(1n, refused('INSUFFICIENT_FUNDS')),
  ],
  'a paid withdrawal is still reserved': () => [confirmed(), ...approved(), decided('pay', 'paid'), wallet(60n, 20n)],
  'a withdrawal is paid without approval': () => [confirmed(), requested(40n), decided('pay', 'paid')],
  'a withdrawal is cancelled and paid': () => [
    ...[confirmed(), ...approved(), decided('cancel', 'cancelled'), decided('pay', 'paid')],
  ],
  'the statement leaves an item out': () => [confirmed(), confirmed(50n, 'd2'), statement(['d2', 50n])],
  'a balance goes back': () => [{ ...confirmed(), returnedAt: moment + 100 }, ...[wallet(100n, 100n), wallet(0n, 0n)]],
}
for (const [name, history] of Object.entries(impossible)) {
  t.test(`no wallet does this: ${name}`, async (t) => t.equal(ofWallet(history()), 'impossible'))
}

t.test('the status of a withdrawal follows its decisions', async (t) => {
  t.equal(ofWithdrawal([...approved(), read('approved'), decided('pay', 'paid'), read('paid')]), 'linearizable')
  t.equal(ofWithdrawal([...approved(), read('under_review')]), 'impossible', 'it never goes back')
  t.equal(ofWithdrawal([...approved(), read('paid')]), 'impossible', 'nobody paid it')
  const paid = [...approved(), unheard({ kind: 'pay', withdrawalId: 'w1' }), read('paid')]
  t.equal(ofWithdrawal(paid), 'linearizable', 'a decision that nobody heard of may have happened')
})

const close = (...history: readonly PlayerOperation[]) =>
  closeBook({ id: 'p1', history, deposits: new Map([['d1', 100n]]), withdrawals: new Map([['w1', 40n]]) })
const deposited = () => statement(['d1', 100n])

t.test('books that agree have no problems, and say which events there were', async (t) => {
  const ended = [statement(['d1', 100n], ['w1', -40n]), wallet(60n, 60n)]
  t.same(close(confirmed(), decided('pay', 'paid'), read('paid'), ...ended), {
    problems: [],
    events: [
      'kyc.status_changed p1 aprovado',
      'deposit.confirmed d1 confirmed',
      'withdrawal.status_changed w1 approved',
      'withdrawal.status_changed w1 paid',
    ],
  })
  const last = unheard({ kind: 'readWallet' })
  t.match(close(confirmed(), ...ended, last).problems.join(), /could not be read/, 'unless the last read is missing')
})

t.test('it is noticed that a hold is missing, and that a paid withdrawal was never debited', async (t) => {
  t.match(close(confirmed(), read('approved'), deposited(), wallet(100n, 100n)).problems, [/withdrawable is 1.00/])
  t.match(close(confirmed(), read('paid'), deposited(), wallet(100n, 100n)).problems, [/w1/])
})
