import { operations } from '@backoffice/contracts'
import { row } from '../row.ts'

export const events = [
  row({
    path: 'events replay',
    operation: operations.webhooks.replayEvents,
    confirm: ({ operatorId, environment, since }) =>
      `Send the events of ${operatorId} in ${environment} since ${since} again?`,
  }),
]
