import type { Difference } from '@backoffice/contracts'
import type { ReadDb } from '@backoffice/service-runtime'
import { entryHash } from '../domain/hash-chain.ts'
import { type EntryOfTransfer, entryColumns, transferOf } from '../storage/transfers.ts'
import { type Check, listedMax } from './check.ts'

const entriesOfPage = 5_000

type Found = Omit<Difference, 'check'>
type Link = Pick<EntryOfTransfer, 'accountId' | 'seq' | 'amount' | 'balance' | 'hash' | 'transferId'>

interface Whole extends EntryOfTransfer {
  readonly ownerBrandId: string
  readonly playerId: string
  readonly genesis: Buffer
}

/** An entry whose account or transfer was removed. */
interface Orphan extends Link {
  readonly brandId: string | null
  readonly ownerBrandId: string | null
  readonly playerId: string | null
  readonly genesis: Buffer | null
}

type Row = Whole | Orphan

/** Recomputes every player's hash chain: numbers without a gap, running balances, and each hash over the one before. */
export const chainsOf = (pageMax: number): Check => ({
  name: 'chains',
  async run({ db }, progress) {
    const [counted] = await db<{ entries: bigint }>`select count(*) as entries from wallet.entry where seq is not null`
    const total = Number(counted?.entries ?? 0)
    const differences: Found[] = []
    let differencesTotal = 0
    const ofBrands = new Map<string | null, number>()
    let compared = 0
    let previous: Link | undefined
    for (;;) {
      const rows = await readPage(db, previous, pageMax)
      for (const row of rows) {
        const fault = faultOf(row, previous)
        if (fault !== null) {
          ofBrands.set(fault.brandId, (ofBrands.get(fault.brandId) ?? 0) + 1)
          if (++differencesTotal <= listedMax) differences.push(fault)
        }
        previous = row
      }
      compared += rows.length
      progress(compared, total)
      if (rows.length < pageMax) return { compared, differences, differencesTotal, ofBrands }
    }
  },
})
export const chains = chainsOf(entriesOfPage)

const readPage = (db: ReadDb, after: Link | undefined, limit: number): Promise<Row[]> => db<Row>`
  select a.brand_id as owner_brand_id, a.owner_id as player_id, a.genesis, ${entryColumns}
  from wallet.entry e left join wallet.account a on a.id = e.account_id left join wallet.transfer t on t.id = e.transfer_id
  where e.seq is not null and (e.account_id, e.seq) > (${after?.accountId ?? 0n}::bigint, ${after?.seq ?? 0n}::bigint)
  order by e.account_id, e.seq limit ${limit}
`

const isWhole = (row: Row): row is Whole => row.genesis !== null && row.brandId !== null

/**
 * What is wrong with an entry. It is compared with the entry before it as that is stored, so one edited row is named
 * once.
 */
function faultOf(row: Row, previous: Link | undefined): Found | null {
  const where = { brandId: row.ownerBrandId, subject: `${row.playerId} entry ${row.seq} (${row.transferId})` }
  if (!isWhole(row)) {
    const explanation = 'The account or the transfer of an entry is gone.'
    return { ...where, expected: 'an account and a transfer', actual: 'nothing', explanation }
  }
  const before = previous?.accountId === row.accountId ? previous : { seq: 0n, balance: 0n, hash: row.genesis }
  if (row.seq !== before.seq + 1n) {
    const explanation = 'Entries are missing before this one.'
    return { ...where, expected: `entry ${before.seq + 1n}`, actual: `entry ${row.seq}`, explanation }
  }
  const balance = before.balance + row.amount
  if (row.balance !== balance) {
    const explanation = 'The balance after an entry is not the one before plus its amount (minor units).'
    return { ...where, expected: `${balance}`, actual: `${row.balance}`, explanation }
  }
  const hash = entryHash(before.hash, row, transferOf(row))
  if (hash.equals(row.hash)) return null
  const explanation = 'The hash does not cover what is stored: this row, its transfer or the one before was changed.'
  return { ...where, expected: hash.toString('hex'), actual: row.hash.toString('hex'), explanation }
}
