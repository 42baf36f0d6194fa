// A third of the deaths of commands that move money or can lose its way. every-crash-point.test.ts has all of them,
// other-crash-points.test.ts a third of those of all other commands.

import { allOperations, type Operation, operations, runtimeOperationIds } from '@backoffice/contracts'
import t from 'tap'
import { commands, commandsByTier } from './commands.ts'
import { CrashPoints } from './crash-points.ts'

await t.test('every command of the operation table has its case', async (t) => {
  const tried = new Set(commands.map(({ operation }) => operation))
  // What the runtime gives to every service is tried in one of them.
  const isTriedElsewhere = ({ id, service }: Operation) =>
    service !== 'gateway' && (runtimeOperationIds as readonly string[]).includes(id)
  const missing = allOperations.filter(
    (operation) => operation.kind === 'command' && !tried.has(operation) && !isTriedElsewhere(operation),
  )
  t.same(
    missing.map(({ service, id }) => `${service}.${id}`),
    [],
  )
})

const crashPoints = await CrashPoints.start(t)
const { money } = commandsByTier
crashPoints.try(t, money)

const command = money.find(({ operation }) => operation === operations.payments.confirmDeposit)
if (command === undefined) throw new Error('there is no such case')
const service = 'payments'
const transfer = { service: 'wallet', step: 'commit of transfer, entry, hold, account', nth: 1 } as const
crashPoints.tryAgain(
  t,
  'a service that makes up for its death may die again: payments, whose relay has the rest to do',
  command,
  { service, step: 'commit of outbox, operation, deposit, status_transition', nth: 1, when: 'after' },
  [
    { service, step: 'call of wallet.creditAccount', nth: 1, when: 'after' },
    { service, step: 'publication of deposit.confirmed', nth: 1, when: 'after' },
    { ...transfer, when: 'before' },
    { ...transfer, when: 'after' },
  ],
)
crashPoints.reconciles(t)
