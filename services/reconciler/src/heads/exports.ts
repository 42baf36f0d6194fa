import type { ReadDb } from '@backoffice/service-runtime'
import {
  type ExportPart,
  type HeadStore,
  nameBefore,
  nameOf,
  type ObjectKind,
  parsed,
  partOf,
  stampOf,
  textOf,
} from './store.ts'

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
interface DatedRestore {
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

/** Some four megabytes: few enough for the memory, many enough for a large ledger. */
const headsOfPart = 20_000
/** Where one looks for the newest export first. Only when there is none, all names are listed. */
const recentMs = 3 * 24 * 3_600_000

/** An export of which all parts are there. */
export interface WholeExport extends DatedRestore {
  readonly names: readonly string[]
}

interface Search {
  readonly kind: ObjectKind
  readonly since: Date
  /** Exports that one of them undid are left out. */
  readonly restores?: readonly Restore[]
}

/** Exports from a moment on, oldest first. */
async function exportsSince(store: HeadStore, { kind, since, restores = [] }: Search): Promise<WholeExport[]> {
  const names = await store.list(`${kind}/`, nameBefore(kind, since))
  const whole: WholeExport[] = []
  let open: string[] = []
  let before: ExportPart | null = null
  for (const name of names) {
    const part = partOf(name)
    if (part === null) continue
    const goesOn = before?.at.getTime() === part.at.getTime() && part.part === before.part + 1
    open = part.part === 1 ? [name] : goesOn ? [...open, name] : []
    const { at, readUntil, history } = part
    if (readUntil !== null && history !== null && open.length === part.part)
      whole.push({ at, readUntil, history, names: open })
    before = part
  }
  return whole.filter((one) => !isUndone(one, restores))
}

interface Newest {
  readonly now: Date
  readonly kind?: ObjectKind
  /** Of one history alone. */
  readonly history?: string
}

/** When the newest export was taken, of a kind; null when there is none. */
export async function lastExportAt(store: HeadStore, { now, kind = 'delta', history }: Newest): Promise<Date | null> {
  for (const since of [new Date(now.getTime() - recentMs), new Date(0)]) {
    const found = await exportsSince(store, { kind, since })
    const newest = found.findLast((one) => history === undefined || one.history === history)
    if (newest !== undefined) return newest.at
  }
  return null
}

/** The exports that a restore to a moment undoes, once it is recorded. */
export async function undoneBy(
  store: HeadStore,
  restore: Pick<Restore, 'restoredTo' | 'recordedAt' | 'history'>,
): Promise<readonly WholeExport[]> {
  // An export may have begun long before its heads were read.
  const since = new Date(restore.restoredTo.getTime() - recentMs)
  const kinds = await Promise.all((['delta', 'snapshot'] as const).map((kind) => exportsSince(store, { kind, since })))
  return kinds.flat().filter((one) => isUndone(one, [restore]))
}

/**
 * Writes one export: a JSON document a line, in as many parts as it takes, and then an empty one whose name says that it is
 * whole, and until when the heads were read. Of several that write the same export, the first to put the first part goes on.
 * @param end is asked when all heads were read
 * @returns how many heads were written; null when somebody else writes, or wrote, the same export
 */
export async function writeHeads(
  store: HeadStore,
  {
    kind,
    at,
    end,
  }: Pick<ExportPart, 'kind' | 'at'> & { readonly end: () => Promise<Pick<DatedRestore, 'readUntil' | 'history'>> },
  pages: AsyncIterable<readonly Head[]>,
): Promise<number | null> {
  let heads: Head[] = []
  let written = 0
  let part = 0
  const put = async (some: readonly Head[], last: Pick<ExportPart, 'readUntil' | 'history'> = notLast) => {
    part++
    written += some.length
    return store.put(nameOf({ kind, at, part, ...last }), some.map((head) => `${JSON.stringify(head)}\n`).join(''))
  }
  for await (const page of pages) {
    heads.push(...page)
    while (heads.length > headsOfPart) {
      if (!(await put(heads.slice(0, headsOfPart)))) return null
      heads = heads.slice(headsOfPart)
    }
  }
  if (!(await put(heads))) return null
  return (await put([], await end())) ? written : null
}

const notLast = { readUntil: null, history: null }

export interface ExportedHead extends Head {
  readonly exportedAt: string
  readonly readUntil: string
  readonly history: string
}

/** Which exports a reconciliation compares: those since the moment to which the last one came, or all that a full one must. */
export type WantedHeads = { readonly deltasSince: Date } | { readonly fullBefore: Date | null }

/**
 * The objects that are to be compared. A full run begins at the newest snapshot from before the last full run: so each
 * head is compared once more after it was exported, and a newer snapshot of a ledger that was cut off hides nothing.
 */
export async function exportsFor(store: HeadStore, wanted: WantedHeads): Promise<readonly WholeExport[]> {
  const restores = await listRestores(store)
  if ('deltasSince' in wanted) return exportsSince(store, { kind: 'delta', since: wanted.deltasSince, restores })
  const { fullBefore } = wanted
  const from = fullBefore === null ? new Date(0) : new Date(fullBefore.getTime() - recentMs)
  const search = { kind: 'snapshot', restores } as const
  let snapshots = await exportsSince(store, { ...search, since: from })
  const isOldEnough = ({ readUntil }: WholeExport) => fullBefore !== null && readUntil <= fullBefore
  if (!snapshots.some(isOldEnough)) snapshots = await exportsSince(store, { ...search, since: new Date(0) })
  const base = snapshots.findLast(isOldEnough) ?? snapshots[0]
  const deltas = await exportsSince(store, { kind: 'delta', since: base?.at ?? new Date(0), restores })
  return base === undefined ? deltas : [base, ...deltas]
}

/** The heads of an export, in batches. What a killed process left ends in the middle of a line, which counts for nothing. */
export async function* readHeads(
  store: HeadStore,
  { at, readUntil, history, names }: WholeExport,
  batchMax: number,
): AsyncGenerator<ExportedHead[]> {
  const times = { exportedAt: at.toISOString(), readUntil: readUntil.toISOString(), history }
  let batch: ExportedHead[] = []
  for (const name of names) {
    let rest = ''
    for await (const piece of store.read(name)) {
      const lines = `${rest}${piece}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) batch.push({ ...parsed<Head>(line), ...times })
      while (batch.length >= batchMax) {
        yield batch.slice(0, batchMax)
        batch = batch.slice(batchMax)
      }
    }
  }
  if (batch.length > 0) yield batch
}

/** Where the hash chain of a player's account stands, as it is written to a file. */
export interface Head {
  readonly accountId: string
  readonly brandId: string
  readonly playerId: string
  readonly seq: string
  /** Hexadecimal. */
  readonly hash: string
}

/**
 * A page of the heads that may have moved since a time, in the order of accounts. It reads every account every few
 * minutes. An index on the time of the last change would cost more, at each posting. That time is PostgreSQL's, which a
 * trigger writes.
 */
export function listHeadsSince(
  db: ReadDb,
  { since, after, limit }: { readonly since: Date; readonly after: string; readonly limit: number },
): Promise<Head[]> {
  return db<Head>`
    select id::text as account_id, brand_id, owner_id as player_id, seq::text, encode(head, 'hex') as hash
    from wallet.account where owner_id is not null and seq > 0 and updated_at >= ${since}::timestamptz and id > ${after}::bigint
    order by id limit ${limit}
  `
}
