import { invalid, operations } from '@backoffice/contracts'
import { handle, listSetAside as listMessages, toPage } from '@backoffice/service-runtime'
import { messageId, summaryOfSetAside } from '../views/set-aside.ts'

export const listSetAside = handle(operations.webhooks.listSetAside, async ({ input }, { db }) => {
  const { after, limit } = input
  const place = after === undefined ? 0n : messageId(after)
  if (place === null) throw invalid('body', '/after', 'is no id of a message')
  const messages = await listMessages(db, { after: place, limit: limit + 1 })
  return toPage(messages.map(summaryOfSetAside), limit, ({ id }) => id)
})
