import { operations } from '@backoffice/contracts'
import { row } from '../row.ts'
import { showWithHistory } from './history.ts'
import { operatorColumn, statusColumn } from './queues.ts'

export const deposits = [
  row({
    path: 'deposits list',
    operation: operations.payments.listDeposits,
    // A brand is an operator in one environment, so there is no list of both.
    wording: { environment: { default: 'production' } },
    columns: [
      ['deposit', 'id'],
      operatorColumn,
      ['player', 'playerId'],
      ['amount', ({ amount, currency }) => `${amount} ${currency}`],
      statusColumn,
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
