import t from 'tap'
import { closeBook } from './book.ts'
import type { Answer, Call, PlayerOperation } from './operations.ts'

const operation = (call: Call, answer: Answer | undefined): PlayerOperation => ({
  ...{ client: 'client 1', call, answer, attempts: 1, calledAt: 0 },
  returnedAt: answer === undefined ? Number.POSITIVE_INFINITY : 1,
})
const record = (id: string, status: string): Answer => ({ kind: 'record', id, status })
const wallet = (available: bigint, withdrawable: bigint) =>
  operation({ kind: 'readWallet' }, { kind: 'wallet', available, withdrawable })
const statement = (...items: readonly (readonly [string, bigint, bigint])[]) =>
  operation(
    { kind: 'readStatement' },
    {
      kind: 'statement',
      items: items.map(([referenceId, amount, balanceAfter]) => ({ referenceId, amount, balanceAfter })),
    },
  )
const confirmed = operation({ kind: 'confirmDeposit', depositId: 'd1', amount: 100n }, record('d1', 'confirmed'))
const paid = operation({ kind: 'pay', withdrawalId: 'w1' }, record('w1', 'paid'))
const isPaid = operation({ kind: 'readWithdrawal', withdrawalId: 'w1' }, record('w1', 'paid'))
const isOpen = operation({ kind: 'readWithdrawal', withdrawalId: 'w1' }, record('w1', 'approved'))
const unheardRequest = operation({ kind: 'requestWithdrawal', amount: 7n }, undefined)

const close = (...history: readonly PlayerOperation[]) =>
  closeBook({ id: 'p1', history, deposits: new Map([['d1', 100n]]), withdrawals: new Map([['w1', 40n]]) })

const right = [confirmed, paid, isPaid, statement(['d1', 100n, 100n], ['w1', -40n, 60n]), wallet(60n, 60n)]

t.test('books that agree have no problems, and say which events there were', async (t) => {
  const { problems, events } = close(...right)
  t.same(problems, [])
  t.same(events, [
    'kyc.status_changed p1 aprovado',
    'deposit.confirmed d1 confirmed',
    'withdrawal.status_changed w1 approved',
    'withdrawal.status_changed w1 paid',
  ])
})

t.test('a request whose answer nobody heard may have reserved its money, or not', async (t) => {
  const before = [confirmed, isOpen, unheardRequest, statement(['d1', 100n, 100n])]
  t.same(close(...before, wallet(100n, 60n)).problems, [])
  t.same(close(...before, wallet(100n, 53n)).problems, [])
  t.same(close(...before, wallet(100n, 54n)).problems, ['withdrawable is 0.54, not 0.60 or 0.53'])
})

const wrong: readonly (readonly [string, readonly PlayerOperation[], RegExp])[] = [
  ['a hold is missing', [confirmed, isOpen, statement(['d1', 100n, 100n]), wallet(100n, 100n)], /withdrawable is 1.00/],
  ['a paid withdrawal was never debited', [confirmed, isPaid, statement(['d1', 100n, 100n]), wallet(100n, 100n)], /w1/],
  [
    'the last read of the wallet was not answered',
    [...right, operation({ kind: 'readWallet' }, undefined)],
    /could not be read/,
  ],
]
for (const [name, history, problem] of wrong) {
  t.test(`it is noticed that ${name}`, async (t) => {
    t.match(
      close(...history).problems.find((text) => problem.test(text)),
      problem,
    )
  })
}
