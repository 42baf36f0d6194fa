// Operations.

import { invalid, operations, Rejection, type SetAsideSummary } from '@backoffice/contracts'
import {
  findSetAside,
  handle,
  listSetAside as listMessages,
  type Reaction,
  rerunSetAside as rerunMessages,
  type SetAsideMessage,
  toPage,
  withIsoTimes,
} from '@backoffice/service-runtime'
import { countSetAside } from './records.ts'

/** @returns null for what is no id of a message */
const messageId = (text: string): bigint | null => (/^[1-9]\d{0,17}$/.test(text) ? BigInt(text) : null)

/** A message that was set aside, with what can be read of its event. */
function summaryOfSetAside({ id, subject, fault, setAsideAt, payload }: SetAsideMessage): SetAsideSummary {
  const { id: eventId = null, operatorId = null } = fieldsOf(payload)
  const message = { id: String(id), subject, fault, setAsideAt }
  return { ...withIsoTimes(message), eventId: textOf(eventId), operatorId: textOf(operatorId) }
}

function fieldsOf(payload: string): { readonly id?: unknown; readonly operatorId?: unknown } {
  try {
    return JSON.parse(payload) ?? {}
  } catch {
    return {}
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

export const listSetAside = handle(operations.webhooks.listSetAside, async ({ input }, { db }) => {
  const { after, limit } = input
  const place = after === undefined ? 0n : messageId(after)
  if (place === null) throw invalid('body', '/after', 'is no id of a message')
  const messages = await listMessages(db, { after: place, limit: limit + 1 })
  return toPage(messages.map(summaryOfSetAside), limit, ({ id }) => id)
})

/** In characters: a payload may be as long as a message of the broker, and then does not fit into another one. */
const payloadShownMax = 65_536

export const showSetAside = handle(operations.webhooks.showSetAside, async ({ input }, { db }) => {
  const id = messageId(input.id)
  const message = id === null ? null : await findSetAside(db, id)
  if (message === null) throw new Rejection('MESSAGE_NOT_FOUND')
  return { ...summaryOfSetAside(message), payload: message.payload.slice(0, payloadShownMax) }
})

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
