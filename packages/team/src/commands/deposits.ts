import { operations } from '@backoffice/contracts'
import { row } from '../row.ts'
import { showWithHistory } from './history.ts'

export const deposits = [
  row({
    path: 'deposits list',
    operation: operations.payments.listDeposits,
    columns: [
      ['deposit', 'id'],
      ['player', 'playerId'],
      ['amount', ({ amount, currency }) => `${amount} ${currency}`],
      'status',
      'method',
      ['reference', 'externalReference'],
      ['created', 'createdAt'],
    ],
  }),
  row({
    path: 'deposits show',
    operation: operations.payments.showDeposit,
    arguments: ['depositId'],
    show: showWithHistory,
  }),
]
