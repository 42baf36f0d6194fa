import type { Head } from '../storage/heads.ts'
import { isUndone, listRestores, type Restore } from './restores.ts'
import { type ExportPart, type HeadStore, nameBefore, nameOf, type ObjectKind, partOf } from './store.ts'

/** Some four megabytes: few enough for the memory, many enough for a large ledger. */
const headsOfPart = 20_000
/** Where one looks for the newest export first. Only when there is none, all names are listed. */
const recentMs = 3 * 24 * 3_600_000

/** An export of which all parts are there. */
interface WholeExport {
  readonly at: Date
  /** What was entered later is not in it. */
  readonly readUntil: Date
  readonly names: readonly string[]
}

interface Search {
  readonly kind: ObjectKind
  readonly since: Date
  /** Exports that one of them undid are left out. */
  readonly restores: readonly Restore[]
}

/** Exports from a moment on, oldest first. */
async function exportsSince(store: HeadStore, { kind, since, restores }: Search): Promise<WholeExport[]> {
  const names = await store.list(`${kind}/`, nameBefore(kind, since))
  const whole: WholeExport[] = []
  let open: string[] = []
  let before: ExportPart | null = null
  for (const name of names) {
    const part = partOf(name)
    if (part === null) continue
    const goesOn = before?.at.getTime() === part.at.getTime() && part.part === before.part + 1
    open = part.part === 1 ? [name] : goesOn ? [...open, name] : []
    if (part.readUntil !== null && open.length === part.part)
      whole.push({ at: part.at, readUntil: part.readUntil, names: open })
    before = part
  }
  return whole.filter((one) => !isUndone(one, restores))
}

/** The newest export of a kind; null when there is none. */
async function newestExport(
  store: HeadStore,
  { now, ...search }: Omit<Search, 'since'> & { readonly now: Date },
): Promise<Date | null> {
  for (const since of [new Date(now.getTime() - recentMs), new Date(0)]) {
    const found = await exportsSince(store, { ...search, since })
    if (found.length > 0) return found.at(-1)?.at ?? null
  }
  return null
}

/** When heads were exported last, also if a restore undid that since: it says that exports work. Null when they never were. */
export const lastExportAt = (store: HeadStore, now: Date): Promise<Date | null> =>
  newestExport(store, { kind: 'delta', now, restores: [] })

/** When the newest export of a kind was taken that no restore undid. */
export const lastKeptExportAt = async (store: HeadStore, kind: ObjectKind, now: Date): Promise<Date | null> =>
  newestExport(store, { kind, now, restores: await listRestores(store) })

/**
 * Writes one export: a JSON document a line, in as many parts as it takes, and then an empty one whose name says that it is
 * whole, and until when the heads were read. Of several that write the same export, the first to put the first part goes on.
 * @returns how many heads were written; null when somebody else writes, or wrote, the same export
 */
export async function writeHeads(
  store: HeadStore,
  { kind, at }: Pick<ExportPart, 'kind' | 'at'>,
  pages: AsyncIterable<readonly Head[]>,
): Promise<number | null> {
  let heads: Head[] = []
  let written = 0
  let part = 0
  const put = async (some: readonly Head[], readUntil: Date | null) => {
    part++
    written += some.length
    return store.put(nameOf({ kind, at, part, readUntil }), some.map((head) => `${JSON.stringify(head)}\n`).join(''))
  }
  for await (const page of pages) {
    heads.push(...page)
    while (heads.length > headsOfPart) {
      if (!(await put(heads.slice(0, headsOfPart), null))) return null
      heads = heads.slice(headsOfPart)
    }
  }
  if (!(await put(heads, null))) return null
  return (await put([], new Date(Math.max(at.getTime(), Date.now())))) ? written : null
}

/** A head with the times of its export. */
export interface ExportedHead extends Head {
  readonly exportedAt: string
  readonly readUntil: string
}

/** Which exports a reconciliation compares: those since the moment to which the last one came, or all that a full one must. */
export type Wanted = { readonly deltasSince: Date } | { readonly fullBefore: Date | null }

/**
 * The objects that are to be compared. A full run begins at the newest snapshot from before the last full run: so each
 * head is compared once more after it was exported, and a newer snapshot of a ledger that was cut off hides nothing.
 */
export async function exportsFor(store: HeadStore, wanted: Wanted): Promise<readonly WholeExport[]> {
  const restores = await listRestores(store)
  if ('deltasSince' in wanted) return exportsSince(store, { kind: 'delta', since: wanted.deltasSince, restores })
  const { fullBefore } = wanted
  const from = fullBefore === null ? new Date(0) : new Date(fullBefore.getTime() - recentMs)
  const search = { kind: 'snapshot', restores } as const
  let snapshots = await exportsSince(store, { ...search, since: from })
  const isOldEnough = ({ at }: WholeExport) => fullBefore !== null && at <= fullBefore
  if (!snapshots.some(isOldEnough)) snapshots = await exportsSince(store, { ...search, since: new Date(0) })
  const base = snapshots.findLast(isOldEnough) ?? snapshots[0]
  const deltas = await exportsSince(store, { kind: 'delta', since: base?.at ?? new Date(0), restores })
  return base === undefined ? deltas : [base, ...deltas]
}

/** The heads of an export, in batches. What a killed process left ends in the middle of a line, which counts for nothing. */
export async function* readHeads(
  store: HeadStore,
  { at, readUntil, names }: WholeExport,
  batchMax: number,
): AsyncGenerator<ExportedHead[]> {
  const times = { exportedAt: at.toISOString(), readUntil: readUntil.toISOString() }
  let batch: ExportedHead[] = []
  for (const name of names) {
    let rest = ''
    for await (const piece of store.read(name)) {
      const lines = `${rest}${piece}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) batch.push({ ...(JSON.parse(line) as Head), ...times })
      while (batch.length >= batchMax) {
        yield batch.slice(0, batchMax)
        batch = batch.slice(batchMax)
      }
    }
  }
  if (batch.length > 0) yield batch
}
