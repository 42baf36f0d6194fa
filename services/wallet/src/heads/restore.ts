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
 * Whether an export was taken of a future that a restore undid. Between the restored moment and the record of it nothing is
 * kept: exports of the copy from before its restore was recorded are taken again, because the next export goes back to the
 * newest one that counts.
 */
export const isUndone = (takenAt: Date, restores: readonly Restore[]): boolean =>
  restores.some(({ restoredTo, recordedAt }) => takenAt > restoredTo && takenAt < recordedAt)

export function restoreFrom(text: string): Restore {
  const stored = JSON.parse(text) as { readonly [Field in keyof Restore]: string }
  return { ...stored, restoredTo: new Date(stored.restoredTo), recordedAt: new Date(stored.recordedAt) }
}
