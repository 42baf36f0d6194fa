import { sql } from '@backoffice/service-runtime'
import type { ExportedHead } from '../heads/exports.ts'
import { ifReadable } from './begin.ts'
import type { HeadsComparison } from './heads-check.ts'
import { accountGone, playersAfter } from './players-checks.ts'
import { type AskingAnew, divided, goThrough } from './proof.ts'
import { Turns } from './ranges.ts'
import type { RecordChecks } from './record-checks.ts'
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
async function examineOpenHolds(db: Snapshot, checks: RecordChecks, ids: readonly bigint[]): Promise<void> {
  const rows = await db<{ key: string; reference: string }>`
    select json_build_array(brand_id, reference)::text as key, reference from wallet.hold
    where account_id = any(${ids.map(String)}::bigint[]) and state = 'open'
  `
  const [holds, withdrawals] = [rows.map(({ key }) => key), rows.map(({ reference }) => reference)]
  await checks.examine(db, 'hold', holds)
  await checks.examine(db, 'withdrawal', withdrawals)
}

export interface AfterRestore extends AskingAnew {
  readonly heads: Pick<HeadsComparison, 'compare'>
}

/**
 * All accounts: each balance with the exported head and with what was entered after it, and what is held with the withdrawals
 * that it is held for. It reads as much as there are accounts, and nothing of what the heads vouch for. Each connection takes
 * the next page.
 */
export async function followFromHeads(
  connections: readonly Snapshots[],
  exports: HeadsInOrder,
  { checks, since, endedBelow, heads, chains, findings, limit, progress }: AfterRestore,
): Promise<void> {
  const turns = new Turns<bigint>()
  let done = 0
  const followAccounts = async (snapshots: Snapshots) => {
    const next = async (after: bigint | null) => {
      const page = await snapshots.see((db) => playersAfter(db, after, { limit, share: null }))
      // With the last page also those of accounts that are gone.
      const exported = (await ifReadable(findings, () => exports.upTo(page.next))) ?? []
      return { part: { ...page, exported }, next: page.next }
    }
    for (let page = await turns.take(next); page !== null; page = await turns.take(next)) {
      const { ids, gone, exported } = page
      for (const id of gone) findings.add('chains', accountGone(id), 'full run')
      await heads.compare(exported, snapshots)
      await snapshots.see((db) => examineOpenHolds(db, checks, ids))
      done += await chains.follow(snapshots, ids, {
        ...{ since, endedBelow, enteredFrom: since?.below ?? 0n, fromZero: () => true },
        heads: headsOf(exported.filter((head) => !chains.fromZero.has(idOf(head)))),
      })
      progress('chains', done, 0)
    }
  }
  await divided(connections, [
    ...waitingWithdrawals.map(
      (source) => (snapshots: Snapshots) => goThrough(source, { snapshots, checks, limit, progress }),
    ),
    ...connections.map(() => followAccounts),
  ])
}
