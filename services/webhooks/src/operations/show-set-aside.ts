import { operations, Rejection } from '@backoffice/contracts'
import { findSetAside, handle } from '@backoffice/service-runtime'
import { messageId, summaryOfSetAside } from '../views/set-aside.ts'

/** In characters: a payload may be as long as a message of the broker, and then does not fit into another one. */
const payloadShownMax = 65_536

export const showSetAside = handle(operations.webhooks.showSetAside, async ({ input }, { db }) => {
  const id = messageId(input.id)
  const message = id === null ? null : await findSetAside(db, id)
  if (message === null) throw new Rejection('MESSAGE_NOT_FOUND')
  return { ...summaryOfSetAside(message), payload: message.payload.slice(0, payloadShownMax) }
})
