import { findUnfinished, type ReadDb } from '@backoffice/service-runtime'

/**
 * A record of a list, and whether the wallet still has to do its part. The statement of the list says it: a later one may
 * find it done, and the record would be shown under another status than the one that it was listed by.
 */
export type Listed<R> = R & { readonly settling: boolean }

/** A record, and whether the wallet has done its part. */
export type Checked<R> = R & {
  /** The operation that ended the record, until the wallet has done its part of it. */
  readonly unfinished: string | null
}

/**
 * Adds to records that have just been read what is unfinished about them. This needs a later statement than the one
 * that read the records. A statement that waited for locks does not see what was committed to other tables meanwhile.
 * And the order is safe: a command that is done by now makes the state that was read true, and a command that was
 * written since cannot belong to that state.
 * @param hasEnded whether the record is in its last state: only a change that ends a record sends the wallet a
 *   command
 */
export async function withUnfinished<R extends { readonly id: string }>(
  db: ReadDb,
  records: readonly R[],
  hasEnded: (record: R) => boolean,
): Promise<Checked<R>[]> {
  const ended = records.filter(hasEnded).map(({ id }) => id)
  const unfinished = await findUnfinished(db, ended)
  return records.map((record) => ({ ...record, unfinished: unfinished.get(record.id) ?? null }))
}
