import type { ReadDb } from '@backoffice/service-runtime'

/** The operations whose command to the wallet is not done yet, by the record that the command is about. */
export async function findUnfinished(db: ReadDb, recordIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (recordIds.length === 0) return new Map()
  const rows = await db<{ aggregate: string; operationId: string }>`
    select distinct on (aggregate) aggregate, operation_id from outbox
    where aggregate = any(${recordIds}::text[]) and kind = 'command' and done_at is null and operation_id is not null
    order by aggregate, aggregate_seq
  `
  return new Map(rows.map(({ aggregate, operationId }) => [aggregate, operationId]))
}

/** A record whose row the transaction has locked. */
export type Locked<R> = R & {
  /** The operation that ended the record, as long as the wallet has not done its part of that. */
  readonly unfinished: string | null
}

/**
 * Adds to locked records what is unfinished of them. It is a statement of its own: the statement that waited for the locks
 * does not see what was committed meanwhile to other tables.
 */
export async function withUnfinished<R extends { readonly id: string }>(
  db: ReadDb,
  locked: readonly R[],
  hasEnded: (record: R) => boolean,
): Promise<ReadonlyMap<string, Locked<R>>> {
  const ended = locked.filter(hasEnded).map(({ id }) => id)
  const unfinished = await findUnfinished(db, ended)
  return new Map(locked.map((record) => [record.id, { ...record, unfinished: unfinished.get(record.id) ?? null }]))
}
