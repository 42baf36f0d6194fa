import { operations, Rejection } from '@backoffice/contracts'
import { findSetAside, handle } from '@backoffice/service-runtime'
import { messageId, summaryOfSetAside } from '../views/set-aside.ts'

export const showSetAside = handle(operations.webhooks.showSetAside, async ({ input }, { db }) => {
  const id = messageId(input.id)
  const message = id === null ? null : await findSetAside(db, id)
  if (message === null) throw new Rejection('MESSAGE_NOT_FOUND')
  return { ...summaryOfSetAside(message), payload: message.payload }
})
