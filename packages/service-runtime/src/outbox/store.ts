import { Rejection } from '@backoffice/contracts'
import { unnest } from '../database/columns.ts'
import type { Db, ReadDb } from '../database/db.ts'
import { openMessage, type StoredMessage } from '../database/sealed-copies.ts'
import type { Vault } from '../database/vault.ts'
import type { OutboxKind, OutboxRow } from './rows.ts'

/** A row as it is stored: texts of its message may be sealed. */
export type StoredRow = Omit<OutboxRow, 'message'> & { readonly message: StoredMessage }
export type LeasedRow = StoredRow & { readonly attempts: number }

/** @throws when the message was sealed under a key that is not known */
export const opened = (vault: Vault, row: StoredRow): OutboxRow =>
  ({ ...row, message: openMessage(vault, row.id, row.message) }) as OutboxRow

const leaseBatchMax = 200
/** Longer than a batch can take; after it another replica may try. */
const leaseMs = 30_000

/**
 * Takes rows that are done out of the outbox. What was published goes to the log of published events, from which a lost
 * stream is filled, on the database's clock: replicas whose clocks differ must agree on what was published lately. In
 * milliseconds, because who reads on from a row hands its time back in milliseconds. A row that is written at the same
 * moment and not seen here nudges the relay itself, after its commit.
 * @returns whether rows wait behind these that only the relay may send
 */
export async function markDone(db: Db, sent: readonly Pick<StoredRow, 'id'>[]): Promise<boolean> {
  const ids = sent.map(({ id }) => id)
  const rows = await db<{ behind: boolean }>`
    with done as (
      delete from outbox where id = any(${ids}::text[])
      returning id, aggregate, aggregate_seq, kind, message
    ), published as (
      insert into published_event (published_at, id, message)
      select date_trunc('milliseconds', statement_timestamp()), id, message from done where kind = 'event'
    )
    select exists (
      select from outbox later
      where later.aggregate = o.aggregate and later.aggregate_seq > o.aggregate_seq
        and (later.leased_until is null or later.leased_until <= clock_timestamp())
    ) as behind
    from done o
  `
  return rows.some(({ behind }) => behind)
}

/**
 * Leases due rows to the caller, oldest first: in columns, never by open locks. An event waits for all earlier rows of its
 * aggregate, a command for the commands: the stream may be away for longer than the service that the command goes to.
 * Leases run on the database's clock, which all replicas share.
 */
export function leaseDue(db: Db, kind: OutboxKind): Promise<LeasedRow[]> {
  return db<LeasedRow>`
    with due as (
      select o.id from outbox o
      where o.kind = ${kind} and (o.leased_until is null or o.leased_until <= clock_timestamp())
        -- It leaves nothing out: with it rows are read in order until there are enough, and not all that are unfinished.
        and o.created_at >= (select min(created_at) from outbox)
        -- As a value and not with EXISTS, which may be planned as a join with all unfinished rows.
        and (
          select true from outbox earlier
          where earlier.aggregate = o.aggregate and earlier.aggregate_seq < o.aggregate_seq
            and (earlier.kind = 'command' or o.kind = 'event') limit 1
        ) is null
      order by o.created_at
      limit ${leaseBatchMax}
      for no key update skip locked
    )
    update outbox o set leased_until = clock_timestamp() + make_interval(secs => ${leaseMs / 1_000}), attempts = o.attempts + 1
    from due where o.id = due.id
    returning o.id, o.aggregate, o.kind, o.name, o.message, o.attempts
  `
}

/** Gives rows back for a later try, each after its own delay, with what went wrong. */
export async function release(
  db: Db,
  rows: readonly { readonly id: string; readonly delayMs: number; readonly error: unknown }[],
): Promise<void> {
  const failed = rows.map(({ id, delayMs, error }) => ({ id, delayMs, fault: faultOf(error) }))
  await db`
    update outbox o
    set leased_until = clock_timestamp() + make_interval(secs => f.delay_ms / 1000.0), last_fault = f.fault
    from ${unnest('f', failed, 'id text, delay_ms int, fault text')}
    where o.id = f.id
  `
}

const faultLengthMax = 200

/** A code says what the receiver replied. Why it failed stands in its log, and is not copied. */
const faultOf = (error: unknown): string =>
  (error instanceof Rejection ? error.code : String(error)).slice(0, faultLengthMax)

/** Which of these operations have a command that is not done. */
export async function findUnfinishedOperations(
  db: ReadDb,
  operationIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db<{ operationId: string }>`
    select distinct operation_id from outbox
    where operation_id = any(${operationIds}::text[]) and kind = 'command'
  `
  return new Set(rows.map(({ operationId }) => operationId))
}

/**
 * Ends the leases and delays of the rows that an operation with unfinished commands has left. Sending a row twice is
 * harmless: receivers know it by its reference or id.
 */
export async function takeOver(db: Db, operationId: string): Promise<void> {
  await db`
    update outbox o set leased_until = null
    from (select aggregate from outbox where operation_id = ${operationId} and kind = 'command') c
    where o.aggregate = c.aggregate and o.operation_id = ${operationId} and o.leased_until is not null
  `
}
