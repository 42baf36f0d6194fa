import { operations, Rejection } from '@backoffice/contracts'
import { findSetAside, handle, type Reaction, rerunSetAside as rerunMessages } from '@backoffice/service-runtime'
import { countSetAside } from '../storage/deliveries.ts'
import { messageId } from '../views/set-aside.ts'

/** The most that one run handles. */
const messagesMax = 500

export const rerunSetAside = (reaction: Reaction) =>
  handle(operations.webhooks.rerunSetAside, {
    async execute({ input }, { db, now, log }) {
      const id = input.id === undefined ? null : messageId(input.id)
      if (input.id !== undefined && (id === null || (await findSetAside(db, id)) === null))
        throw new Rejection('MESSAGE_NOT_FOUND')
      const run = await rerunMessages(reaction, { id, limit: messagesMax }, { db, now, log })
      return { ...run, remaining: await countSetAside(db) }
    },
  })
