import t from 'tap'
import { linearize } from './linearizability.ts'
import { isAbout, walletModel, withdrawalModel } from './models.ts'
import type { Answer, Call, PlayerOperation } from './operations.ts'

let moment = 0

/** One operation after the other, unless a test says otherwise. */
function operation(call: Call, answer: Answer | undefined, changes: Partial<PlayerOperation> = {}): PlayerOperation {
  const calledAt = moment++
  const returnedAt = answer === undefined ? Number.POSITIVE_INFINITY : moment++
  return { client: 'client 1', call, answer, attempts: 1, calledAt, returnedAt, ...changes }
}

const record = (id: string, status: string): Answer => ({ kind: 'record', id, status })
const refused = (code: string, status?: string): Answer => ({ kind: 'refused', code, status })
const confirmed = (amount = 100n, depositId = 'd1') =>
  operation({ kind: 'confirmDeposit', depositId, amount }, record(depositId, 'confirmed'))
const requested = (amount: bigint, changes: Partial<PlayerOperation> = {}) =>
  operation({ kind: 'requestWithdrawal', amount }, record('w1', 'under_review'), changes)
const decided = (kind: 'approve' | 'pay' | 'cancel' | 'reject', status: string) =>
  operation({ kind, withdrawalId: 'w1' }, record('w1', status))
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

const verdict = (history: readonly PlayerOperation[]) => linearize(history, walletModel(history)).verdict

const possible: Readonly<Record<string, () => readonly PlayerOperation[]>> = {
  'a deposit is confirmed and read': () => [wallet(0n, 0n), confirmed(), wallet(100n, 100n), statement(['d1', 100n])],
  'a confirmation of unknown outcome happened': () => [
    operation({ kind: 'confirmDeposit', depositId: 'd1', amount: 100n }, undefined),
    wallet(0n, 0n),
    wallet(100n, 100n),
  ],
  'the second confirmation is refused': () => [
    confirmed(),
    operation({ kind: 'failDeposit', depositId: 'd1', amount: 100n }, refused('DEPOSIT_NOT_PENDING', 'confirmed')),
  ],
  'a withdrawal is requested, approved and paid': () => [
    confirmed(),
    requested(40n),
    wallet(100n, 60n),
    decided('approve', 'approved'),
    wallet(100n, 60n),
    decided('pay', 'paid'),
    wallet(60n, 60n),
    statement(['d1', 100n], ['w1', -40n]),
  ],
  'a cancelled withdrawal gives its money back': () => [
    confirmed(),
    requested(100n),
    operation({ kind: 'requestWithdrawal', amount: 1n }, refused('INSUFFICIENT_FUNDS')),
    decided('cancel', 'cancelled'),
    wallet(100n, 100n),
  ],
  'a request that was sent twice may have reserved its money, given it back and reserved it again': () => [
    confirmed(),
    requested(40n, { calledAt: moment, returnedAt: moment + 100, attempts: 2 }),
    wallet(100n, 60n),
    wallet(100n, 100n),
    wallet(100n, 60n, { calledAt: moment + 101, returnedAt: moment + 102 }),
  ],
}
for (const [name, history] of Object.entries(possible)) {
  t.test(`a wallet can do this: ${name}`, async (t) => t.equal(verdict(history()), 'linearizable'))
}

const impossible: Readonly<Record<string, () => readonly PlayerOperation[]>> = {
  'a confirmed deposit is missing': () => [confirmed(), wallet(0n, 0n)],
  'a deposit is credited twice': () => [confirmed(), wallet(200n, 200n)],
  'a deposit is in the statement twice': () => [confirmed(), statement(['d1', 100n], ['d1', 100n])],
  'a deposit is confirmed twice': () => [confirmed(), confirmed()],
  'a failed deposit is credited': () => [
    operation({ kind: 'failDeposit', depositId: 'd1', amount: 100n }, record('d1', 'failed')),
    wallet(100n, 100n),
  ],
  'somebody is told of a confirmation before the money is there': () => [
    operation({ kind: 'confirmDeposit', depositId: 'd1', amount: 100n }, undefined),
    operation({ kind: 'failDeposit', depositId: 'd1', amount: 100n }, refused('DEPOSIT_NOT_PENDING', 'confirmed')),
    wallet(0n, 0n),
  ],
  'a withdrawal reserves nothing': () => [confirmed(), requested(40n), wallet(100n, 100n)],
  'a withdrawal is accepted without the money': () => [requested(40n)],
  'a withdrawal is refused although the money is there': () => [
    confirmed(),
    operation({ kind: 'requestWithdrawal', amount: 1n }, refused('INSUFFICIENT_FUNDS')),
  ],
  'a paid withdrawal is still reserved': () => [
    confirmed(),
    requested(40n),
    decided('approve', 'approved'),
    decided('pay', 'paid'),
    wallet(60n, 20n),
  ],
  'a withdrawal is paid without approval': () => [confirmed(), requested(40n), decided('pay', 'paid')],
  'a withdrawal is cancelled and paid': () => [
    confirmed(),
    requested(40n),
    decided('approve', 'approved'),
    decided('cancel', 'cancelled'),
    decided('pay', 'paid'),
  ],
  'the statement leaves an item out': () => [confirmed(), confirmed(50n, 'd2'), statement(['d2', 50n])],
  'a balance goes back': () => [
    operation(
      { kind: 'confirmDeposit', depositId: 'd1', amount: 100n },
      { ...record('d1', 'confirmed') },
      { returnedAt: moment + 100 },
    ),
    wallet(100n, 100n),
    wallet(0n, 0n),
  ],
}
for (const [name, history] of Object.entries(impossible)) {
  t.test(`no wallet does this: ${name}`, async (t) => t.equal(verdict(history()), 'impossible'))
}

const read = (status: string) => operation({ kind: 'readWithdrawal', withdrawalId: 'w1' }, record('w1', status))
const judged = (history: readonly PlayerOperation[]) =>
  linearize(history.filter(isAbout('w1')), withdrawalModel('w1')).verdict

t.test('the status of a withdrawal follows its decisions', async (t) => {
  const way = () => [requested(40n), read('under_review'), decided('approve', 'approved'), read('approved')]
  t.equal(judged(way()), 'linearizable')
  t.equal(judged([...way(), confirmed(), decided('pay', 'paid'), read('paid')]), 'linearizable')
  t.equal(judged([...way(), read('under_review')]), 'impossible', 'it never goes back')
  t.equal(judged([...way(), read('paid')]), 'impossible', 'nobody paid it')
  const unheard = operation({ kind: 'pay', withdrawalId: 'w1' }, undefined)
  t.equal(
    judged([...way(), unheard, read('paid')]),
    'linearizable',
    'a decision that nobody heard of may have happened',
  )
})
