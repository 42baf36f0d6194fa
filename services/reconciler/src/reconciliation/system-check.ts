import { type ReadDb, sql } from '@backoffice/service-runtime'
import type { AccountCheckpoint } from '../storage/reconciliations.ts'
import type { FoundDifference } from './check.ts'
import type { EnteredAmount } from './plain-records.ts'
import type { RecordChecks } from './record-checks.ts'
import type { Snapshots } from './snapshots.ts'

/** A system account with the two sums that are kept of its entries. */
export interface SystemAccount {
  readonly id: bigint
  readonly brandId: string
  readonly kind: string
  readonly currency: string
  /** The checkpoint that the account's balance is read from. */
  readonly below: string | null
  readonly balance: string | null
  readonly entries: bigint | null
  /** What the last reconciliation made of it. */
  readonly verifiedBelow: string | null
  readonly verifiedBalance: string | null
  readonly verifiedEntries: bigint | null
}

export const readSystemAccounts = (db: ReadDb): Promise<SystemAccount[]> => db<SystemAccount>`
  select a.id, a.brand_id, a.kind, a.currency, p.below::text, p.balance, p.entries,
    v.below::text as verified_below, v.balance as verified_balance, v.entries as verified_entries
  from wallet.account a
  left join wallet.system_checkpoint p on p.account_id = a.id
  left join reconciler.account_checkpoint v on v.account_id = a.id
  where a.owner_id is null order by a.id
`

interface SystemEntry {
  readonly xid: string
  readonly transferId: string
  readonly amount: bigint
}

/** Where a page of a system account's entries begins. */
export interface SystemPlace {
  readonly xid: bigint
  /** Within the entries of that transaction alone: after the one of this transfer. Null: before all of them. */
  readonly after: string | null
}

interface SystemPage {
  readonly entries: readonly SystemEntry[]
  readonly next: SystemPlace | null
}

/** A transaction of the wallet has a few hundred entries. Only rows that were written by other means are so many. */
const pageOfOneTransaction = 20_000

/**
 * A page of entries of transactions below `below`: those of whole transactions, so that the next page goes on with the
 * next one.
 */
async function readSystemEntries(
  db: ReadDb,
  { xid, after }: SystemPlace,
  { accountId, below, limit }: { readonly accountId: bigint; readonly below: bigint; readonly limit: number },
): Promise<SystemPage> {
  if (after !== null) return readOfOneTransaction(db, { xid, after }, accountId)
  // By the number, which the index has: `order by xid` alone would mean the text that is selected, where 100 is before 99.
  const entries = await db<SystemEntry>`
    select e.xid::text, e.transfer_id, e.amount from wallet.entry e
    where e.account_id = ${accountId}::bigint and e.seq is null
      and e.xid >= ${String(xid)}::text::xid8 and e.xid < ${String(below)}::text::xid8
    order by e.xid limit ${limit + 1}
  `
  const last = entries[limit]
  if (last === undefined) return { entries, next: null }
  const whole = entries.filter((entry) => entry.xid !== last.xid)
  const begin = BigInt(last.xid)
  if (whole.length > 0) return { entries: whole, next: { xid: begin, after: null } }
  return readOfOneTransaction(db, { xid: begin, after: '' }, accountId)
}

async function readOfOneTransaction(db: ReadDb, { xid, after }: SystemPlace, accountId: bigint): Promise<SystemPage> {
  const entries = await db<SystemEntry>`
    select e.xid::text, e.transfer_id, e.amount from wallet.entry e
    where e.account_id = ${accountId}::bigint and e.seq is null and e.xid = ${String(xid)}::text::xid8
      and e.transfer_id > ${after}
    order by e.transfer_id limit ${pageOfOneTransaction}
  `
  const last = entries[pageOfOneTransaction - 1]
  return { entries, next: last === undefined ? { xid: xid + 1n, after: null } : { xid, after: last.transferId } }
}

/** The sums that a part of a system account's entries adds to. */
interface SumsOfPage {
  readonly all: Sum
  /** Of transactions below that of the account's checkpoint, and of what the last run verified. */
  readonly ofCheckpoint: Sum
  readonly ofVerified: Sum
  /** Where the next page begins; null: there is none. */
  readonly next: bigint | null
}

const entriesOfSum = 20_000

/** Adds up the entries of whole transactions, some twenty thousand at a time, without reading them. */
export async function readSystemSums(
  db: ReadDb,
  { id, below, verifiedBelow }: SystemAccount,
  { from, end }: { readonly from: bigint; readonly end: bigint },
): Promise<SumsOfPage> {
  const within = sql`e.account_id = ${id}::bigint and e.seq is null and e.xid >= ${String(from)}::text::xid8`
  const [last] = await db<{ xid: string }>`
    select e.xid::text from wallet.entry e where ${within} and e.xid < ${String(end)}::text::xid8
    order by e.xid offset ${entriesOfSum} limit 1
  `
  const until = last === undefined ? end : BigInt(last.xid) > from ? BigInt(last.xid) : from + 1n
  const sums = (named: string, limit: string | null) =>
    sql`count(*) filter (where e.xid < ${limit ?? '0'}::text::xid8) as ${sql.fixed(`${named}_entries`)},
      coalesce(sum(e.amount) filter (where e.xid < ${limit ?? '0'}::text::xid8), 0)::text as ${sql.fixed(`${named}_balance`)}`
  const [row] = await db<
    Record<`${'all' | 'checkpoint' | 'verified'}Entries`, bigint> &
      Record<`${'all' | 'checkpoint' | 'verified'}Balance`, string>
  >`
    select ${sums('all', String(end))}, ${sums('checkpoint', below)}, ${sums('verified', verifiedBelow)}
    from wallet.entry e where ${within} and e.xid < ${String(until)}::text::xid8
  `
  if (row === undefined) throw new Error('a sum without a row')
  return {
    all: { balance: BigInt(row.allBalance), entries: row.allEntries },
    ofCheckpoint: { balance: BigInt(row.checkpointBalance), entries: row.checkpointEntries },
    ofVerified: { balance: BigInt(row.verifiedBalance), entries: row.verifiedEntries },
    next: last === undefined ? null : until,
  }
}

interface Sum {
  readonly balance: bigint
  readonly entries: bigint
}

const none: Sum = { balance: 0n, entries: 0n }
const plus = (one: Sum, other: Sum): Sum => ({
  balance: one.balance + other.balance,
  entries: one.entries + other.entries,
})
const textOf = ({ balance, entries }: Sum) => `${balance} from ${entries} entries`
const sumOf = (balance: string | null, entries: bigint | null): Sum => ({
  balance: BigInt(balance ?? 0),
  entries: entries ?? 0n,
})

/**
 * Sums the entries of a system account, and says whether its checkpoints are the sums of the entries that they stand for:
 * the one that its balance is read from, and the one of the last reconciliation. From zero both are computed. Else the
 * second is the beginning, and the first is compared with it.
 */
export class SystemSum {
  readonly account: SystemAccount
  /** From which transaction on entries are to be added. */
  readonly from: bigint
  readonly #isFromZero: boolean
  #ofCheckpoint = none
  #ofVerified = none
  #all = none
  readonly #since: bigint

  /** @param since the transaction that the last reconciliation came to; null: this one begins at zero */
  constructor(account: SystemAccount, since: bigint | null) {
    this.account = account
    this.#isFromZero = since === null
    this.#since = since ?? 0n
    // A checkpoint may be older than the last reconciliation, when nothing was entered since: then there is nothing between.
    this.from = account.below !== null && BigInt(account.below) < this.#since ? BigInt(account.below) : this.#since
  }

  add({ xid, amount }: SystemEntry): void {
    const { below, verifiedBelow } = this.account
    const transaction = BigInt(xid)
    const entry = { balance: amount, entries: 1n }
    if (transaction >= this.#since) this.#all = plus(this.#all, entry)
    if (below !== null && transaction < BigInt(below)) this.#ofCheckpoint = plus(this.#ofCheckpoint, entry)
    if (verifiedBelow !== null && transaction < BigInt(verifiedBelow)) this.#ofVerified = plus(this.#ofVerified, entry)
  }

  /** Many at once, from zero. */
  addPage({ all, ofCheckpoint, ofVerified }: Pick<SumsOfPage, 'all' | 'ofCheckpoint' | 'ofVerified'>): void {
    this.#all = plus(this.#all, all)
    this.#ofCheckpoint = plus(this.#ofCheckpoint, ofCheckpoint)
    this.#ofVerified = plus(this.#ofVerified, ofVerified)
  }

  get #verified(): Sum {
    return sumOf(this.account.verifiedBalance, this.account.verifiedEntries)
  }

  faults(): FoundDifference[] {
    const { below, balance, entries, verifiedBelow } = this.account
    const kept = sumOf(balance, entries)
    if (this.#isFromZero)
      return [
        ...(below === null ? [] : this.#fault(this.#ofCheckpoint, kept)),
        ...(verifiedBelow === null ? [] : this.#fault(this.#ofVerified, this.#verified)),
      ]
    if (below === null) return []
    // Both count from the older of the two transactions, so what lies between them cancels out.
    return this.#fault(plus(this.#verified, this.#ofCheckpoint), plus(kept, this.#ofVerified))
  }

  #fault(expected: Sum, actual: Sum): FoundDifference[] {
    const said = { expected: textOf(expected), actual: textOf(actual) }
    if (said.expected === said.actual) return []
    const { id, kind, brandId } = this.account
    const explanation = 'A checkpoint of a system account is not the sum of its entries (minor units).'
    return [{ brandId, subject: `${kind} account ${id}`, ...said, explanation }]
  }

  /** Up to the transaction below which everything was added. */
  get checkpoint(): AccountCheckpoint {
    const { balance, entries } = this.#isFromZero ? this.#all : plus(this.#verified, this.#all)
    return { accountId: this.account.id, balance, entries, hash: null }
  }
}

/**
 * Debits equal credits: what was entered in a brand's currency sums to zero. Only transactions that have ended count,
 * because the sum is taken over many snapshots.
 */
export class CurrencySums {
  readonly #sums = new Map<string, { -readonly [Field in keyof EnteredAmount]: EnteredAmount[Field] }>()

  get size(): number {
    return this.#sums.size
  }

  add({ brandId, currency, amount }: EnteredAmount): void {
    const key = `${brandId} ${currency}`
    const sum = this.#sums.get(key)
    if (sum === undefined) this.#sums.set(key, { brandId, currency, amount })
    else sum.amount += amount
  }

  differences(): FoundDifference[] {
    const explanation = 'All entries of a currency must sum to zero (minor units).'
    return [...this.#sums.values()]
      .filter(({ amount }) => amount !== 0n)
      .map(({ brandId, currency, amount }) => ({
        ...{ brandId, subject: currency, expected: '0', actual: String(amount), explanation },
      }))
  }
}

/** What was entered in a system account since the last run, page by page; by it an incremental run finds what was posted. */
export async function* entriesSince(
  snapshots: Snapshots,
  sum: SystemSum,
  {
    endedBelow,
    checks,
    limit,
    since,
  }: {
    readonly endedBelow: bigint
    readonly checks: RecordChecks
    readonly limit: number
    readonly since: { readonly below: bigint } | null
  },
): AsyncGenerator<bigint> {
  for (let place: SystemPlace | null = { xid: sum.from, after: null }; place !== null; ) {
    const from: SystemPlace = place
    const { entries, next } = await snapshots.see(async (db) => {
      const page = await readSystemEntries(db, from, { accountId: sum.account.id, below: endedBelow, limit })
      await checks.examine(db, 'transfer', [...new Set(page.entries.map(({ transferId }) => transferId))])
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
