import { type HeadStore, parsed, stampOf, textOf } from './store.ts'

/** That the database went back to an earlier moment. It stands among the exported heads, where it is kept for ever. */
export interface Restore {
  /** The recovery target: what was committed after it is gone. */
  readonly restoredTo: Date
  /** From then on exports are of the restored database. */
  readonly recordedAt: Date
  readonly recordedBy: string
  readonly reason: string
  /** Which history the restored database is on. What was exported of it counts. */
  readonly history: string
  /** How many exports it undid. */
  readonly exportsSilenced: number
}

/** An export, as far as a restore is concerned. */
export interface DatedRestore {
  readonly at: Date
  readonly readUntil: Date
  readonly history: string
}

/** Whether an export is of another history and may have something of the future that a restore undid. */
export const isUndone = (
  { at, readUntil, history }: DatedRestore,
  restores: readonly Pick<Restore, 'restoredTo' | 'recordedAt' | 'history'>[],
): boolean =>
  restores.some((restore) => readUntil > restore.restoredTo && at < restore.recordedAt && history !== restore.history)

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
  const stored = parsed<Omit<Restore, 'restoredTo' | 'recordedAt'> & Record<'restoredTo' | 'recordedAt', string>>(text)
  return { ...stored, restoredTo: new Date(stored.restoredTo), recordedAt: new Date(stored.recordedAt) }
}
