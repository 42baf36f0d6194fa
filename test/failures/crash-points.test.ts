// Of the commands that move money or can lose its way; other-crash-points.test.ts has all others.

import { operations } from '@backoffice/contracts'
import t from 'tap'
import { commandsByTier } from './commands.ts'
import { CrashPoints } from './crash-points.ts'

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
    { service, step: 'publication of deposit.confirmed', nth: 1, when: 'before' },
    { service, step: 'publication of deposit.confirmed', nth: 1, when: 'after' },
    { ...transfer, when: 'before' },
    { ...transfer, when: 'after' },
  ],
)
crashPoints.reconciles(t)
