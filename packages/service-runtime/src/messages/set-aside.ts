import { type EventMessage, eventEnvelope, eventKinds } from '@backoffice/contracts'
import type { Database, Db, ReadDb } from '../database/db.ts'
import { placeOfPayload } from '../database/sealed-copies.ts'
import type { Vault } from '../database/vault.ts'
import { validateAsReader } from '../validation/validate.ts'
import type { Reaction, ReactionTools } from './consumer.ts'

const knownKinds: ReadonlySet<string> = new Set(eventKinds)

/** Nobody will ever read such a message. */
export const notJson = 'the payload is not JSON'

/** The event of a message's payload, or what is wrong with it. */
export function readEvent(payload: string): EventMessage | string {
  let event: EventMessage
  try {
    event = JSON.parse(payload) as EventMessage
  } catch {
    return notJson
  }
  if (!knownKinds.has(event?.type)) return `unknown event type: ${String(event?.type)}`
  const issues = validateAsReader(eventEnvelope(event.type), event)
  return issues === null ? event : `the event is not valid: ${JSON.stringify(issues)}`
}

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
  readonly payload: string
  readonly sealed: boolean
}

const openPayload = (vault: Vault, { id, payload, sealed }: StoredPayload): string =>
  sealed ? vault.open(payload, placeOfPayload(id)) : payload

/** Keeps a message for a person to look at. It may be anything, so no schema says whether personal data are in it. */
export async function insertSetAside(db: Database, message: Omit<SetAsideMessage, 'id'>): Promise<void> {
  const { consumer, subject, payload, fault, setAsideAt } = message
  const { seals } = db.vault
  await db.transaction(async (tx) => {
    const [row] = await tx<{ id: bigint }>`
      insert into set_aside_message (consumer, subject, payload, sealed, fault, set_aside_at)
      values (${consumer}, ${subject}, ${seals ? '' : payload}, ${seals}::boolean, ${fault}, ${setAsideAt}::timestamptz)
      returning id
    `
    // A payload is sealed for its row, whose id PostgreSQL has given.
    if (row !== undefined && seals)
      await tx`
        update set_aside_message set payload = ${tx.vault.seal(payload, placeOfPayload(row.id))}
        where id = ${row.id}::bigint
      `
  })
}

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

/**
 * Lets a reaction handle messages that were set aside, oldest first: in one transaction with their inbox rows, so that each
 * takes effect once. What still cannot be read stays set aside. If the reaction fails, all of them do.
 * @param id of one message; null takes a page of all
 * @returns how many messages were handled, and how many of the page were left
 */
export async function rerunSetAside(
  reaction: Reaction,
  { id, limit }: { readonly id: bigint | null; readonly limit: number },
  tools: ReactionTools,
): Promise<{ readonly handled: number; readonly left: number }> {
  const { db } = tools
  const rows = await db<StoredPayload>`
    select id, payload, sealed from set_aside_message
    where consumer = ${reaction.name} and (${id}::bigint is null or id = ${id}::bigint)
    order by id limit ${limit} for update skip locked
  `
  const readable = rows.flatMap(({ id, ...row }) => {
    const event = readEvent(openPayload(db.vault, { id, ...row }))
    return typeof event === 'string' ? [] : [{ id, event }]
  })
  const unseen = await enterInbox(
    db,
    reaction.name,
    readable.map(({ event }) => event.id),
  )
  // Two copies of one event may have been set aside.
  const events = new Map(readable.map(({ event }) => [event.id, { event, traceparent: null }]))
  const fresh = [...events.values()].filter(({ event }) => unseen.has(event.id) && reaction.kinds.includes(event.type))
  if (fresh.length > 0) await reaction.react(fresh, tools)
  await db`delete from set_aside_message where id = any(${readable.map(({ id }) => id)}::bigint[])`
  return { handled: readable.length, left: rows.length - readable.length }
}

/**
 * Enters events in the inbox of a reaction. PostgreSQL's clock says since when they are there.
 * @returns the ids of those that were not there before
 */
export async function enterInbox(db: Db, reaction: string, eventIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db<{ eventId: string }>`
    insert into inbox (consumer, event_id, received_at)
    select ${reaction}, id, statement_timestamp() from unnest(${eventIds}::text[]) as id order by id
    on conflict do nothing returning event_id
  `
  return new Set(rows.map(({ eventId }) => eventId))
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
    const rows = await db<StoredPayload>`
      select id, payload, sealed from set_aside_message
      where id > ${after}::bigint and consumer = ${reaction} and (sealed or position(${mentions} in payload) > 0)
      order by id limit ${pageMax}
    `
    const found = rows.flatMap(({ id, ...row }) => {
      const event = readEvent(openPayload(db.vault, { id, ...row }))
      return typeof event === 'string' || !isWanted(event) ? [] : [{ id, event }]
    })
    await db`delete from set_aside_message where id = any(${found.map(({ id }) => id)}::bigint[])`
    taken.push(...found.map(({ event }) => event))
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageMax) return taken
    after = last.id
  }
}
