import { sqlState } from '@backoffice/service-runtime/pool'
import type { FoundDifference } from './check.ts'
import type { Snapshot } from './snapshots.ts'

/**
 * Faults of what is stored: values that do not fit together (21, 22, 23), a limit (54), a failed assertion (P0), a page
 * that is broken (58, XX). With any other the next statement fails too.
 */
const faultsOfData = /^(2[123]|54|58|P0|XX)/

/**
 * Reads what belongs to some keys. Where that fails because of what one of them holds, the keys are halved until those that
 * fail are alone, so that nobody who can write one row can keep the others from being read.
 * @param unreadable is told of each key that cannot be read
 * @throws what has nothing to do with a key: the connection is lost, a statement took too long, a right is missing
 */
export async function readEach<Key, Read>(
  db: Snapshot,
  keys: readonly Key[],
  read: (keys: readonly Key[]) => Promise<readonly Read[]>,
  unreadable: (key: Key, error: unknown) => void,
): Promise<Read[]> {
  try {
    return [...(await read(keys))]
  } catch (error) {
    const state = sqlState(error)
    // Without a state it is a fault of ours in reading the row, or the connection's: then this fails too.
    if (state !== undefined && !faultsOfData.test(state)) throw error
    await db.rewind()
    if (keys.length > 1) {
      const half = Math.ceil(keys.length / 2)
      const first = await readEach(db, keys.slice(0, half), read, unreadable)
      return [...first, ...(await readEach(db, keys.slice(half), read, unreadable))]
    }
    for (const key of keys) unreadable(key, error)
    return []
  }
}

/** What is found of a record that cannot be read: whether it is right is not known. */
export const unreadable = (subject: string, error: unknown, brandId: string | null = null): FoundDifference => ({
  brandId,
  subject,
  expected: 'a record that can be read',
  actual: `cannot be read: ${error instanceof Error ? error.message : error}`,
  explanation: 'A record, or one that belongs to it, cannot be read. Nobody knows whether it is right.',
})
