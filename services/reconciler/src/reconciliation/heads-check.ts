import { firstId } from '@backoffice/process'
import { type ReadDb, sql } from '@backoffice/service-runtime'
import {
  type ExportedHead,
  exportsFor,
  isUndone,
  lastExportAt,
  listRestores,
  readHeads,
  type WantedHeads,
  type WholeExport,
} from '../heads/exports.ts'
import type { EvidenceMissing, HeadStore } from '../heads/store.ts'
import { evidence, type FoundDifference, type KeyedFound } from './check.ts'
import type { Findings } from './findings.ts'
import { readEach, unreadable } from './record-checks.ts'
import type { Snapshots } from './snapshots.ts'
import type { Since } from './sources.ts'

export interface ConfiguredHeads {
  readonly store: HeadStore
  readonly everyMs: number
}

/** From where a run goes on. */
interface RunBefore {
  readonly since: Since | null
  /** Whether it proves some of what there is, or all. */
  readonly isProof: boolean
  readonly checkpoint: { readonly at: Date; readonly fullAt: Date } | undefined
}

export const wantedOf = ({ since, checkpoint, isProof }: RunBefore, restoredTo?: Date): WantedHeads => {
  // After a restore heads vouch only for what the last run has looked at.
  if (restoredTo !== undefined)
    return { fullBefore: checkpoint !== undefined && checkpoint.at < restoredTo ? checkpoint.at : restoredTo }
  return isProof ? { fullBefore: checkpoint?.fullAt ?? null } : { deltasSince: since?.at ?? new Date(0) }
}

const batchMax = 2_000
/** An export may be late by one period. */
const periodsMax = 2

/** The exports that a run compares, with ways to read their heads, in batches. */
export interface NamedExports {
  /** The newest one of all accounts from before a restore and the last run, which vouches for them. */
  readonly base?: Pick<WholeExport, 'at'> & { readonly read: () => AsyncGenerator<ExportedHead[]> }
  readonly rest: () => AsyncGenerator<ExportedHead[]>
}

export async function nameExports(
  { store }: ConfiguredHeads,
  wanted: WantedHeads,
  restoredTo?: Date,
): Promise<NamedExports> {
  const exports = await exportsFor(store, wanted)
  const [first] = exports
  const isBefore =
    'fullBefore' in wanted &&
    restoredTo !== undefined &&
    first?.names[0]?.startsWith('snapshot/') === true &&
    first.readUntil <= (wanted.fullBefore ?? restoredTo)
  return {
    ...(isBefore ? { base: { at: first.at, read: () => readHeads(store, first, batchMax) } } : {}),
    async *rest() {
      for (const one of isBefore ? exports.slice(1) : exports) yield* readHeads(store, one, batchMax)
    },
  }
}

/** Heads that were found different before, without those that a restore explains since. */
export async function stillWanted(
  { store }: ConfiguredHeads,
  heads: readonly ExportedHead[],
): Promise<readonly ExportedHead[]> {
  const restores = await listRestores(store)
  return heads.filter(({ exportedAt, readUntil, history }) => {
    const one = { at: new Date(exportedAt), readUntil: new Date(readUntil), history }
    return !isUndone(one, restores)
  })
}

/**
 * Compares exported heads with the chains. An end that was cut off leaves no other trace.
 * @returns differences whose key is the head itself, so that a later run can look for it again
 */
async function compareHeads(db: ReadDb, heads: readonly ExportedHead[]): Promise<KeyedFound[]> {
  const rows = await db<ExportedHead & { readonly actual: string | null }>`
    select h.account_id, h.seq, h.hash, h.brand_id, h.player_id, h.exported_at, h.read_until, h.history, encode(e.hash, 'hex') as actual
    from ${sql.unnest('h', heads, 'account_id text, seq text, hash text, brand_id text, player_id text, exported_at text, read_until text, history text')}
    left join wallet.entry e on e.account_id = h.account_id::bigint and e.seq = h.seq::bigint and e.seq is not null
    where encode(e.hash, 'hex') is distinct from h.hash
  `
  return rows.map(({ actual, ...head }) => ({
    key: JSON.stringify(head),
    found: {
      brandId: head.brandId,
      subject: `${head.playerId} entry ${head.seq}`,
      expected: head.hash,
      actual: actual ?? 'nothing',
      explanation: 'An exported head is no longer in the chain: its end was cut off or written anew.',
    },
  }))
}

/** What could not be looked at outside of the database. */
export const notSeen = (error: EvidenceMissing): FoundDifference => ({
  brandId: null,
  subject: 'the store of heads',
  expected: 'evidence that can be read',
  actual: `cannot be read: ${error.message}`,
  explanation: 'What is kept outside of the database could not be compared with it. All other checks were made.',
})

/** What a comparison of heads needs of its run. */
interface HeadsRun {
  readonly snapshots: Snapshots
  readonly findings: Findings
  readonly progress: (done: number) => void
}

/** The comparison of one run: what was exported, batch after batch. */
export class HeadsComparison {
  readonly #run: HeadsRun
  #compared = 0
  /** Accounts of which a head differs. */
  readonly #different = new Set<string>()

  constructor(run: HeadsRun) {
    this.#run = run
  }

  /**
   * All heads of the named exports, and whether there are such as there must be. Exports that have stopped are missing
   * evidence, and so are none of a ledger that is older: without them nobody would see a chain whose end was cut off.
   */
  async compareAll(
    { store, everyMs }: ConfiguredHeads,
    batches: AsyncIterable<readonly ExportedHead[]>,
    at: Date,
  ): Promise<void> {
    for await (const batch of batches) await this.compare(batch)
    const ageMsMax = periodsMax * everyMs
    const last = await lastExportAt(store, { now: at })
    if (last !== null && at.getTime() - last.getTime() <= ageMsMax) return
    if (last === null && !(await this.#hasTransferBefore(new Date(at.getTime() - ageMsMax)))) return
    const found = {
      brandId: null,
      subject: 'the export of heads',
      expected: `one at most ${ageMsMax / 1_000} s old`,
      actual: last === null ? 'none' : `the newest of ${last.toISOString()}`,
      explanation: 'Heads of the hash chains are not exported, so a chain whose end was cut off would not be seen.',
    }
    this.#run.findings.add(evidence, found, 'any run')
  }

  async #hasTransferBefore(moment: Date): Promise<boolean> {
    const rows = await this.#run.snapshots.see(
      (db) => db`select from wallet.transfer where id < ${firstId('trf', moment)} limit 1`,
    )
    return rows.length > 0
  }

  async compare(heads: readonly ExportedHead[], snapshots = this.#run.snapshots): Promise<void> {
    // Where none are exported there is no such check.
    if (heads.length === 0) return
    const { findings, progress } = this.#run
    const cannotBeRead = (head: ExportedHead, error: unknown) =>
      findings.add(evidence, unreadable(`an exported head: ${JSON.stringify(head)}`, error), 'any run')
    const differences = await snapshots.see((db) => readEach(db, heads, (some) => compareHeads(db, some), cannotBeRead))
    for (const { key, found } of differences) {
      // Exports come oldest first: what is missing of an account is named from its first entry on, once.
      const { accountId } = JSON.parse(key) as ExportedHead
      if (this.#different.has(accountId)) continue
      this.#different.add(accountId)
      findings.add('exportedHeads', found, { kind: 'head', key })
    }
    findings.compared('exportedHeads', heads.length)
    this.#compared += heads.length
    progress(this.#compared)
  }
}
