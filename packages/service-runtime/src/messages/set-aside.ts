import { type EventMessage, eventEnvelope, eventKinds } from '@backoffice/contracts'
import type { Db } from '../database/db.ts'
import { validateAsReader } from '../validation/validate.ts'

const knownKinds: ReadonlySet<string> = new Set(eventKinds)

/** The event of a message's payload, or what is wrong with it. */
export function readEvent(payload: string): EventMessage | string {
  let event: EventMessage
  try {
    event = JSON.parse(payload) as EventMessage
  } catch {
    return 'the payload is not JSON'
  }
  if (!knownKinds.has(event?.type)) return `unknown event type: ${String(event?.type)}`
  const issues = validateAsReader(eventEnvelope(event.type), event)
  return issues === null ? event : `the event is not valid: ${JSON.stringify(issues)}`
}

/** How many messages are read at a time. */
const pageMax = 1_000

/**
 * Takes back events that a reaction has set aside and that can be read now. The caller brings about their effect in the
 * same transaction. A message that cannot be read, or is not wanted, stays set aside.
 * @param mentions a text that the payload of every wanted event contains
 */
export async function takeSetAside(
  db: Db,
  {
    reaction,
    mentions,
    isWanted,
  }: { readonly reaction: string; readonly mentions: string; readonly isWanted: (event: EventMessage) => boolean },
): Promise<EventMessage[]> {
  const taken: EventMessage[] = []
  for (let after = 0n; ; ) {
    const rows = await db<{ id: bigint; payload: string }>`
      select id, payload from set_aside_message
      where id > ${after}::bigint and consumer = ${reaction} and position(${mentions} in payload) > 0
      order by id limit ${pageMax}
    `
    const found = rows.flatMap(({ id, payload }) => {
      const event = readEvent(payload)
      return typeof event === 'string' || !isWanted(event) ? [] : [{ id, event }]
    })
    await db`delete from set_aside_message where id = any(${found.map(({ id }) => id)}::bigint[])`
    taken.push(...found.map(({ event }) => event))
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageMax) return taken
    after = last.id
  }
}
