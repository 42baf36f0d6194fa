import { operations } from '@backoffice/contracts'
import { row } from '../row.ts'

const { replayEvents } = operations.webhooks

export const events = [
  row({
    path: 'events replay',
    operation: replayEvents,
    confirm: ({ operatorId, environment, since }) =>
      `Send the events of ${operatorId} in ${environment} since ${since} again?`,
    // Call after call, so that none lasts long. One that is broken off goes on with --after its last delivery.
    async run({ session, input, operationId }) {
      let { nextCursor, ...all } = await session.call(replayEvents, input, operationId)
      while (nextCursor !== null) {
        const { scheduled, lastAt, ...rest } = await session.call(
          replayEvents,
          { ...input, after: nextCursor },
          undefined,
        )
        all = { ...all, scheduled: all.scheduled + scheduled, lastAt: lastAt ?? all.lastAt }
        nextCursor = rest.nextCursor
      }
      return all
    },
  }),
]
