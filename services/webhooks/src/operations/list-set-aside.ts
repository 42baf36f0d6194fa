import { invalid, operations } from '@backoffice/contracts'
import { handle, listSetAside as listMessages } from '@backoffice/service-runtime'
import { messageId, summaryOfSetAside } from '../views/set-aside.ts'

export const listSetAside = handle(operations.webhooks.listSetAside, async ({ input }, { db }) => {
  const { after, limit } = input
  const place = after === undefined ? 0n : messageId(after)
  if (place === null) throw invalid('body', '/after', 'is no id of a message')
  const messages = await listMessages(db, { after: place, limit: limit + 1 })
  const data = messages.slice(0, limit).map(summaryOfSetAside)
  return { data, nextCursor: messages.length > limit ? (data.at(-1)?.id ?? null) : null }
})
