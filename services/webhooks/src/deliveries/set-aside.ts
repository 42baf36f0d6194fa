import type { EventMessage } from '@backoffice/contracts'
import { placeOfPayload, type Vault } from '@backoffice/database/vault'
import { type Db, inbox, isPassingFault, type Reaction, type ReadDb } from '@backoffice/service-runtime'
import { type EndpointKey, endpointId } from '../endpoints/endpoint.ts'
import { deliveryReaction, insertDeliveries } from './schedule-delivery.ts'

type ReactionTools = Parameters<Reaction['react']>[1]

/** A message that no reaction could handle, with why. */
export interface SetAsideMessage {
  readonly id: bigint
  readonly consumer: string
  readonly subject: string
  readonly payload: string
  readonly fault: string
  readonly setAsideAt: Date
}

/** What a row holds of a payload. */
interface StoredPayload {
  readonly id: bigint
  readonly subject: string
  readonly payload: string
  readonly sealed: boolean
}

const openPayload = (vault: Vault, { id, payload, sealed }: Omit<StoredPayload, 'subject'>): string =>
  sealed ? vault.open(payload, placeOfPayload(id)) : payload

/** Any event fits into it. What is longer is no event of ours, and not read into a list as a whole. */
const listedPayloadMax = 16_384
/** The same in a sealed payload: base64 of up to three bytes a character, with a key id, a nonce and a tag. */
const listedSealedMax = 4 * listedPayloadMax + 256

/** Oldest first, with the beginnings of long payloads. */
export async function listSetAside(
  db: ReadDb,
  { after, limit }: { readonly after: bigint; readonly limit: number },
): Promise<SetAsideMessage[]> {
  const rows = await db<SetAsideMessage & StoredPayload>`
    select id, consumer, subject, fault, set_aside_at, sealed and length(payload) <= ${listedSealedMax}::int as sealed,
      case when not sealed then left(payload, ${listedPayloadMax}::int)
        -- Of a sealed payload no part can be opened.
        when length(payload) <= ${listedSealedMax}::int then payload else '' end as payload
    from set_aside_message where id > ${after}::bigint order by id limit ${limit}
  `
  return rows.map(({ sealed, ...row }) => ({ ...row, payload: openPayload(db.vault, { ...row, sealed }) }))
}

export async function findSetAside(db: ReadDb, id: bigint): Promise<SetAsideMessage | null> {
  const [row] = await db<SetAsideMessage & StoredPayload>`
    select id, consumer, subject, payload, sealed, fault, set_aside_at from set_aside_message where id = ${id}::bigint
  `
  if (row === undefined) return null
  const { sealed, ...message } = row
  return { ...message, payload: openPayload(db.vault, row) }
}

interface ReadMessage {
  readonly id: bigint
  readonly event: EventMessage
}

/** How many pages of messages one run looks at. */
const pagesMax = 20

/**
 * Lets a reaction handle messages that were set aside, oldest first: with their inbox rows, so that each takes effect once.
 * What still cannot be read, or fails again, stays set aside, and holds back no other.
 * @param id of one message; null takes them page by page, until so many as fill a page are handled
 * @returns how many messages were handled, and how many were looked at and left
 * @throws what the reaction fails with, when it can handle none
 */
export async function rerunSetAside(
  reaction: Reaction,
  { id, limit }: { readonly id: bigint | null; readonly limit: number },
  tools: ReactionTools,
): Promise<{ readonly handled: number; readonly left: number }> {
  const { db } = tools
  const faults: unknown[] = []
  let [handled, left, after] = [0, 0, 0n]
  for (let page = 1; page <= pagesMax && handled < limit; page++) {
    const rows = await db<StoredPayload>`
      select id, subject, payload, sealed from set_aside_message
      where consumer = ${reaction.name} and (${id}::bigint is null or id = ${id}::bigint) and id > ${after}::bigint
      order by id limit ${limit} for update skip locked
    `
    const readable = rows.flatMap(({ id, ...row }) => {
      const event = inbox.readEvent(openPayload(db.vault, { id, ...row }), row.subject)
      return 'fault' in event ? [] : [{ id, event }]
    })
    const done = await handleEach(reaction, readable, tools, faults)
    handled += done
    left += rows.length - done
    const last = rows.at(-1)
    if (last === undefined || rows.length < limit) break
    after = last.id
  }
  if (handled === 0 && faults.length > 0) throw faults[0]
  return { handled, left }
}

/** Handles messages together, and where that fails one half and then the other. @returns how many were handled */
async function handleEach(
  reaction: Reaction,
  messages: readonly ReadMessage[],
  tools: ReactionTools,
  faults: unknown[],
): Promise<number> {
  const { db } = tools
  if (messages.length === 0) return 0
  await db`savepoint rerun`
  try {
    await handleTogether(reaction, messages, tools)
    await db`release savepoint rerun`
    return messages.length
  } catch (error) {
    if (isPassingFault(error)) throw error
    await db`rollback to savepoint rerun`
    await db`release savepoint rerun`
    if (messages.length === 1) {
      faults.push(error)
      tools.log.warn({ err: error, setAsideId: messages[0]?.id }, 'a message that was set aside fails again')
      return 0
    }
    const middle = Math.ceil(messages.length / 2)
    const first = await handleEach(reaction, messages.slice(0, middle), tools, faults)
    return first + (await handleEach(reaction, messages.slice(middle), tools, faults))
  }
}

async function handleTogether(
  reaction: Reaction,
  messages: readonly ReadMessage[],
  tools: ReactionTools,
): Promise<void> {
  const { db } = tools
  const unseen = await inbox.enter(
    db,
    reaction.name,
    messages.map(({ event }) => event.id),
  )
  // Two copies of one event may have been set aside.
  const events = new Map(messages.map(({ event }) => [event.id, { event, traceparent: null }]))
  const fresh = [...events.values()].filter(({ event }) => unseen.has(event.id) && reaction.kinds.includes(event.type))
  if (fresh.length > 0) await reaction.react(fresh, tools)
  await db`delete from set_aside_message where id = any(${messages.map(({ id }) => id)}::bigint[])`
}

/**
 * Stores the deliveries of events that were set aside because storing them had failed. The deliveries are withheld and
 * have the time of their event, so a replay of that time schedules them. The endpoint's row must be locked.
 */
export async function bringBackSetAside(
  db: Db,
  { since, until, ...key }: EndpointKey & { readonly since: string; readonly until?: string },
): Promise<void> {
  const isWanted = (event: EventMessage) =>
    endpointId(event) === endpointId(key) &&
    Date.parse(event.createdAt) >= Date.parse(since) &&
    (until === undefined || Date.parse(event.createdAt) < Date.parse(until))
  const events = await takeSetAside(db, { reaction: deliveryReaction, mentions: key.operatorId, isWanted })
  await insertDeliveries(
    db,
    events.map((event) => ({ event, traceparent: null, receivedAt: new Date(event.createdAt), withheld: true })),
  )
}

/** How many messages are read at a time. */
const pageMax = 1_000

/**
 * Takes back events that a reaction has set aside and that can be read now. The caller brings about their effect in the
 * same transaction. A message that cannot be read, or is not wanted, stays set aside.
 * @param mentions a text that the payload of every wanted event contains
 */
async function takeSetAside(
  db: Db,
  {
    reaction,
    mentions,
    isWanted,
  }: { readonly reaction: string; readonly mentions: string; readonly isWanted: (event: EventMessage) => boolean },
): Promise<EventMessage[]> {
  const taken: EventMessage[] = []
  for (let after = 0n; ; ) {
    const rows = await db<StoredPayload>`
      select id, subject, payload, sealed from set_aside_message
      where id > ${after}::bigint and consumer = ${reaction} and (sealed or position(${mentions} in payload) > 0)
      order by id limit ${pageMax}
    `
    const found = rows.flatMap(({ id, ...row }) => {
      const event = inbox.readEvent(openPayload(db.vault, { id, ...row }), row.subject)
      return 'fault' in event || !isWanted(event) ? [] : [{ id, event }]
    })
    await db`delete from set_aside_message where id = any(${found.map(({ id }) => id)}::bigint[])`
    taken.push(...found.map(({ event }) => event))
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageMax) return taken
    after = last.id
  }
}
