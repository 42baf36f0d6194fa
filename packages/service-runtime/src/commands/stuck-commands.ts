import type { operations, Rejection, Reply, StuckCommand } from '@backoffice/contracts'
import { type Db, type ReadDb, sql } from '../database/db.ts'
import { type CommandRow, type EventRow, markDone } from '../outbox/store.ts'
import type { Call, QueryTools } from './handle.ts'
import { replaceReply, toPage, type WithTimes, withIsoTimes } from './reply.ts'

type ListCommands = (typeof operations)['gateway']['listCommands']

/** As long as it takes until an alert fires. */
const stuckAfterSeconds = 60

/** Answers the `listCommands` operation of any service. Ids are ordered by time, so the oldest come first. */
export async function readCommands({ input }: Call<ListCommands>, { db }: QueryTools): Promise<Reply<ListCommands>> {
  const { commandId = null, after = '', limit } = input
  const rows = await db<WithTimes<StuckCommand, 'createdAt'>>`
    select id, name as operation, aggregate as subject, environment, created_at, attempts, last_fault,
      message #>> '{context,requestId}' as request_id
    from outbox
    where kind = 'command' and id > ${after}
      and case when ${commandId}::text is null
        -- PostgreSQL stamps them: one of the future was written by other means, and would never grow old.
        then created_at not between clock_timestamp() - make_interval(secs => ${stuckAfterSeconds}) and clock_timestamp() else id = ${commandId} end
    order by id limit ${limit + 1}
  `
  return toPage(rows.map(withIsoTimes), limit, ({ id }) => id)
}

/** A command that its receiver has not done. */
export type UnfinishedCommand = CommandRow & {
  /** The operation that sent it; null where no request asked for it. */
  readonly operationId: string | null
}

// What kind it is is looked at here: in the condition it would make PostgreSQL read all commands while there are few.
const byId = (id: string) => sql`select id, aggregate, kind, name, message, operation_id from outbox where id = ${id}`
const unlessEvent = ([row]: readonly (UnfinishedCommand | EventRow)[]) => (row?.kind === 'command' ? row : undefined)

export async function findCommand(db: ReadDb, id: string): Promise<UnfinishedCommand | undefined> {
  return unlessEvent(await db<UnfinishedCommand>`${byId(id)}`)
}

/** Locks its row, so that nobody else marks it as done. */
export async function lockCommand(db: Db, id: string): Promise<UnfinishedCommand | undefined> {
  return unlessEvent(await db<UnfinishedCommand>`${byId(id)} for update`)
}

/**
 * Ends a command without its effect. Its row must be locked, and its receiver must refuse it from now on: it may be on its
 * way. The events of its operation are not sent, and a retry of the operation gets the refusal.
 */
export async function endCommand(
  db: Db,
  { id, aggregate, operationId }: UnfinishedCommand,
  refusal: Rejection,
): Promise<void> {
  // Not marked as done: what is done may be published again, to fill a lost stream.
  await db`
    delete from outbox
    where aggregate = ${aggregate} and operation_id = ${operationId} and kind = 'event'
  `
  await markDone(db, [{ id }])
  if (operationId !== null) await replaceReply(db, operationId, refusal)
}
