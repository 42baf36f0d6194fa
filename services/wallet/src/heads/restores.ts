import { type HeadStore, stampOf, textOf } from './store.ts'

/** That the database went back to an earlier moment. It stands among the exported heads, where it is kept for ever. */
export interface Restore {
  /** The recovery target: what was committed after it is gone. */
  readonly restoredTo: Date
  /** From then on exports are of the restored database. */
  readonly recordedAt: Date
  readonly recordedBy: string
  readonly reason: string
}

/**
 * Whether an export may have something of a future that a restore undid. Between the restored moment and the record of it
 * nothing is kept: exports of the copy from before its restore was recorded are taken again, because the next export goes
 * back to the newest one that counts.
 */
export const isUndone = (
  { at, readUntil }: { readonly at: Date; readonly readUntil: Date },
  restores: readonly Restore[],
): boolean => restores.some(({ restoredTo, recordedAt }) => readUntil > restoredTo && at < recordedAt)

const kind = 'restore'

/** Every restore that was recorded. */
export async function listRestores(store: HeadStore): Promise<Restore[]> {
  const names = await store.list(`${kind}/`, '')
  return Promise.all(names.map(async (name) => restoreFrom(await textOf(store, name))))
}

/** @throws when another one was recorded at the same moment */
export async function writeRestore(store: HeadStore, restore: Restore): Promise<void> {
  const name = `${kind}/${stampOf(restore.recordedAt)}.json`
  if (!(await store.put(name, `${JSON.stringify(restore)}\n`))) throw new Error(`there is already a ${name}`)
}

function restoreFrom(text: string): Restore {
  const stored = JSON.parse(text) as { readonly [Field in keyof Restore]: string }
  return { ...stored, restoredTo: new Date(stored.restoredTo), recordedAt: new Date(stored.recordedAt) }
}
