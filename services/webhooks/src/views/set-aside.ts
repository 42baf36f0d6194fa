import type { SetAsideSummary } from '@backoffice/contracts'
import { type SetAsideMessage, withIsoTimes } from '@backoffice/service-runtime'

/** @returns null for what is no id of a message */
export const messageId = (text: string): bigint | null => (/^[1-9]\d{0,17}$/.test(text) ? BigInt(text) : null)

/** A message that was set aside, with what can be read of its event. */
export function summaryOfSetAside({ id, subject, fault, setAsideAt, payload }: SetAsideMessage): SetAsideSummary {
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
