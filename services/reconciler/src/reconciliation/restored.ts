import { sql } from '@backoffice/service-runtime'
import type { ExportedHead } from '../heads/exports.ts'
import type { FoundDifference } from './check.ts'
import type { Examination } from './examination.ts'
import type { HeadsComparison } from './heads-check.ts'
import { allPlayers } from './players-checks.ts'
import { goThrough } from './proof.ts'
import { Turns } from './ranges.ts'
import type { Snapshot, Snapshots } from './snapshots.ts'
import { paged } from './sources.ts'

const isNumber = (text: string) => /^\d{1,18}$/.test(text)
const idOf = ({ accountId }: ExportedHead) => (isNumber(accountId) ? BigInt(accountId) : 0n)

/** Those that can vouch for an account. */
const headsOf = (heads: readonly ExportedHead[]): ReadonlyMap<bigint, ExportedHead> =>
  new Map(heads.filter(({ accountId, seq }) => isNumber(accountId) && isNumber(seq)).map((head) => [idOf(head), head]))

/** Exported heads, which are in the order of accounts. One that is not vouches for nothing. */
export class HeadsInOrder {
  readonly #batches: AsyncIterator<readonly ExportedHead[]> | undefined
  #waiting: readonly ExportedHead[] = []
  #isEnded = false

  constructor(batches: AsyncIterator<readonly ExportedHead[]> | undefined) {
    this.#batches = batches
  }

  /** The next ones up to an account, or all that are left. */
  async upTo(account: bigint | null): Promise<readonly ExportedHead[]> {
    const isBeyond = (head: ExportedHead) => account !== null && idOf(head) > account
    while (!this.#isEnded && !this.#waiting.some(isBeyond)) {
      const next = await this.#batches?.next()
      if (next === undefined || next.done === true) this.#isEnded = true
      else this.#waiting = [...this.#waiting, ...next.value]
    }
    const taken = this.#waiting.filter((head) => !isBeyond(head))
    this.#waiting = this.#waiting.filter(isBeyond)
    return taken
  }
}

/** Withdrawals that somebody may pay next, whenever they were asked for. */
const waitingWithdrawals = ['production', 'sandbox'].flatMap((environment) =>
  ['under_review', 'approved'].map((status) =>
    paged({
      ...{ kind: 'withdrawal', table: 'payments.reconcilable_withdrawal', order: 'id text', first: [null] },
      // As the index of what waits has them.
      range: sql.fixed(`and r.environment = '${environment}' and r.status = '${status}'`),
    }),
  ),
)

/** What some accounts hold, with the withdrawals that it is held for. */
async function examineOpenHolds(db: Snapshot, examination: Examination, ids: readonly bigint[]): Promise<void> {
  const rows = await db<{ key: string; reference: string }>`
    select json_build_array(brand_id, reference)::text as key, reference from wallet.hold
    where account_id = any(${ids.map(String)}::bigint[]) and state = 'open'
  `
  await examination.examine(
    db,
    'hold',
    rows.map(({ key }) => key),
  )
  await examination.examine(
    db,
    'withdrawal',
    rows.map(({ reference }) => reference),
  )
}

interface AfterRestore {
  readonly snapshots: Snapshots
  readonly examination: Examination
  readonly compared: Pick<HeadsComparison, 'compare'>
  readonly limit: number
  readonly progress: (check: string, done: number, total: number) => void
  /** Undefined where the exported heads cannot be read. */
  readonly seen: <T>(look: () => Promise<T>) => Promise<T | undefined>
  readonly found: (check: 'chains', found: FoundDifference) => void
  /** Follows chains from the entries that heads name, or from their first entries. */
  readonly follow: (ids: readonly bigint[], heads: ReadonlyMap<bigint, ExportedHead>) => Promise<number>
}

/**
 * All accounts: each balance with the exported head and with what was entered after it, and what is held with the withdrawals
 * that it is held for. It reads as much as there are accounts, and nothing of what the heads vouch for.
 */
export async function followFromHeads(
  heads: HeadsInOrder,
  { snapshots, examination, compared, limit, progress, seen, found, follow }: AfterRestore,
): Promise<void> {
  for (const source of waitingWithdrawals) await goThrough(source, { snapshots, examination, limit, progress })
  let done = 0
  for await (const ids of allPlayers(snapshots, { limit, share: null, turns: new Turns() }, (gone) =>
    found('chains', gone),
  )) {
    const exported = (await seen(() => heads.upTo(ids.at(-1) ?? 0n))) ?? []
    await compared.compare(exported)
    await snapshots.see((db) => examineOpenHolds(db, examination, ids))
    done += await follow(ids, headsOf(exported))
    progress('chains', done, 0)
  }
  // Of accounts that are gone.
  await compared.compare((await seen(() => heads.upTo(null))) ?? [])
}
