import { sql } from '@backoffice/service-runtime'
import type { Chains } from '../checks/chains.ts'
import type { Findings } from '../checks/findings.ts'
import type { HeadsComparison } from '../checks/heads.ts'
import { CurrencySums, readSystemEntries, readSystemSums, type SystemPlace, SystemSum } from '../checks/sums.ts'
import type { ExportedHead } from '../heads/exports.ts'
import type { Snapshot, Snapshots } from '../storage/snapshots.ts'
import { type BegunRun, seen } from './begin.ts'
import { Examination } from './examination.ts'
import { accountGone, divided, inTurns, largeSources, nextRange, playersAfter, readIds, type Share } from './ranges.ts'
import { estimate, type Place, paged, type Source, sourcesOf } from './sources.ts'

/** What a run works with, beside what it asks. */
export interface RunTools {
  readonly findings: Findings
  readonly chains: Chains
  /** How many records one snapshot looks at. */
  readonly limit: number
  readonly progress: (check: string, done: number, total: number) => void
}

/**
 * Looks at all that was ever entered, or at some pieces of it, and believes nothing that a run before has verified. What
 * there is to do is divided among some connections: each takes the next part, and what is large they share at the end.
 * @returns the sums of the system accounts, from their first entries on
 */
export async function prove(
  connections: readonly Snapshots[],
  share: Share,
  begun: BegunRun,
  tools: RunTools,
): Promise<readonly SystemSum[]> {
  const { ask, endedBelow, systemAccounts } = begun
  const { findings, chains, limit, progress } = tools
  const examination = new Examination({ ...ask, since: null })
  // Of some accounts alone nothing sums to zero.
  const sums = share === null ? chains.sums : new CurrencySums()
  const systemSums = systemAccounts.map((account) => new SystemSum(account, null))
  let followed = 0
  const accounts = inTurns(
    async (snapshots, after: bigint | null) => {
      const part = await snapshots.see((db) => playersAfter(db, after, { limit, share }))
      return { part, next: part.next }
    },
    async (snapshots, { ids, gone }) => {
      for (const id of gone) findings.add('chains', accountGone(id), 'full run')
      const enteredFrom = share === null ? 0n : endedBelow
      await chains.follow(snapshots, ids, { ...begun, fromZero: () => true, enteredFrom })
      followed += ids.length
      progress('balances', followed, 0)
    },
  )
  const large = (['transfer', 'deposit'] as const).map((kind) => {
    const { columns } = largeSources[kind]
    let done = 0
    return inTurns(
      async (snapshots, after: string | null) => {
        const part = await snapshots.see((db) => nextRange(db, columns, { limit, share, after }))
        return part === null ? null : { part, next: part.end }
      },
      async (snapshots, range) => {
        const total = await snapshots.see(async (db) => {
          const { keys, gone } = await readIds(db, largeSources[kind], range)
          await examination.examine(db, kind, keys)
          await examination.examine(db, 'history', gone)
          done += keys.length
          return estimate(db, columns[0][0])
        })
        progress(kind, done, total)
      },
    )
  })
  await divided(connections, [
    ...systemSums.map((sum) => (snapshots: Snapshots) => addUp(snapshots, sum, { sums, endedBelow, progress })),
    ...sourcesOf(null, endedBelow, share).map(
      (source) => (snapshots: Snapshots) => goThrough(source, { ...tools, snapshots, examination }),
    ),
    ...[...large, accounts].flatMap((shared) => connections.map(() => shared)),
  ])
  await examination.lookAgain(connections[0] as Snapshots, limit)
  return systemSums
}

interface ToAddUp extends Pick<RunTools, 'progress'> {
  readonly sums: CurrencySums
  readonly endedBelow: bigint
}

async function addUp(snapshots: Snapshots, sum: SystemSum, { sums, endedBelow, progress }: ToAddUp): Promise<void> {
  const { brandId, currency } = sum.account
  for (let from: bigint | null = 0n; from !== null; ) {
    const begin: bigint = from
    const page = await snapshots.see((db) => readSystemSums(db, sum.account, { from: begin, end: endedBelow }))
    sum.addPage(page)
    sums.add({ brandId, currency, amount: page.all.balance })
    progress('sums', Number(page.all.entries), 0)
    from = page.next
  }
}

interface Through extends Pick<RunTools, 'limit' | 'progress'> {
  readonly snapshots: Snapshots
  readonly examination: Examination
}

/** Page after page of one source, each in a snapshot of its own. */
export async function goThrough(
  { kind, table, first, page: readPage }: Source,
  { snapshots, examination, limit, progress }: Through,
): Promise<void> {
  const total = await snapshots.see((db) => estimate(db, table))
  let done = 0
  for (let after: Place | null = first; after !== null; ) {
    const begin: Place = after
    const { read, next } = await snapshots.see(async (db) => {
      const page = await readPage(db, begin, limit)
      await examination.examine(db, kind, page.keys)
      return page
    })
    done += read
    progress(kind, done, total)
    after = next
  }
}

/** What was entered in a system account since the last run, page by page; by it an incremental run finds what was posted. */
export async function* entriesSince(
  snapshots: Snapshots,
  sum: SystemSum,
  {
    endedBelow,
    examination,
    limit,
    since,
  }: {
    readonly endedBelow: bigint
    readonly examination: Examination
    readonly limit: number
    readonly since: { readonly below: bigint } | null
  },
): AsyncGenerator<bigint> {
  for (let place: SystemPlace | null = { xid: sum.from, after: null }; place !== null; ) {
    const from: SystemPlace = place
    const { entries, next } = await snapshots.see(async (db) => {
      const page = await readSystemEntries(db, from, { accountId: sum.account.id, below: endedBelow, limit })
      await examination.examine(db, 'transfer', [...new Set(page.entries.map(({ transferId }) => transferId))])
      return page
    })
    let entered = 0n
    for (const entry of entries) {
      sum.add(entry)
      if (BigInt(entry.xid) >= (since?.below ?? 0n)) entered += entry.amount
    }
    if (entries.length > 0) yield entered
    place = next
  }
}

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

interface FromHeads extends RunTools {
  readonly begun: BegunRun
  readonly compared: Pick<HeadsComparison, 'compare'>
}

/**
 * All accounts: each balance with the exported head and with what was entered after it, and what is held with the withdrawals
 * that it is held for. It reads as much as there are accounts, and nothing of what the heads vouch for. Each connection takes
 * the next page.
 */
export async function followFromHeads(
  connections: readonly Snapshots[],
  heads: HeadsInOrder,
  { begun, compared, ...tools }: FromHeads,
): Promise<void> {
  const { findings, chains, limit, progress } = tools
  const examination = new Examination({ ...begun.ask, since: null })
  let done = 0
  const accounts = inTurns(
    async (snapshots, after: bigint | null) => {
      const page = await snapshots.see((db) => playersAfter(db, after, { limit, share: null }))
      // With the last page also those of accounts that are gone.
      const exported = (await seen(findings, () => heads.upTo(page.next))) ?? []
      return { part: { ...page, exported }, next: page.next }
    },
    async (snapshots, { ids, gone, exported }) => {
      for (const id of gone) findings.add('chains', accountGone(id), 'full run')
      await compared.compare(exported, snapshots)
      await snapshots.see((db) => examineOpenHolds(db, examination, ids))
      const vouching = new Map([...headsOf(exported)].filter(([id]) => !chains.fromZero.has(id)))
      const how = { ...begun, enteredFrom: begun.since?.below ?? 0n, heads: vouching }
      done += await chains.follow(snapshots, ids, { ...how, fromZero: () => true })
      progress('chains', done, 0)
    },
  )
  await divided(connections, [
    ...waitingWithdrawals.map(
      (source) => (snapshots: Snapshots) => goThrough(source, { ...tools, snapshots, examination }),
    ),
    ...connections.map(() => accounts),
  ])
  await examination.lookAgain(connections[0] as Snapshots, limit)
}
