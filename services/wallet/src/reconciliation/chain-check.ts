import type { Difference, LedgerType } from '@backoffice/contracts'
import { entryHash } from '../domain/hash-chain.ts'
import { type Check, listedMax } from './check.ts'

interface Row {
  readonly accountId: string
  readonly brandId: string
  readonly playerId: string
  readonly genesis: Buffer
  readonly seq: string
  readonly amount: string
  readonly balance: string
  readonly hash: Buffer
  readonly transferId: string
  readonly transferBrand: string | null
  readonly reference: string
  readonly type: LedgerType
  readonly debitAccount: string
  readonly creditAccount: string
  readonly transferAmount: string
  readonly outcome: 'posted' | 'insufficient_funds'
  readonly reverses: string | null
  readonly reason: string | null
  readonly effectiveAt: Date
  readonly createdAt: Date
}

const pageMax = 5_000

const pageStatement = `
  select e.account_id as "accountId", a.brand_id as "brandId", a.owner_id as "playerId", a.genesis, e.seq, e.amount, e.balance,
    e.hash, e.transfer_id as "transferId", t.brand_id as "transferBrand", t.reference, t.type, t.debit_account as "debitAccount",
    t.credit_account as "creditAccount", t.amount as "transferAmount", t.outcome, t.reverses, t.reason,
    t.effective_at as "effectiveAt", t.created_at as "createdAt"
  from wallet.entry e left join wallet.account a on a.id = e.account_id left join wallet.transfer t on t.id = e.transfer_id
  where e.seq is not null and (e.account_id, e.seq) > ($1::bigint, $2::bigint)
  order by e.account_id, e.seq limit ${pageMax}
`

interface Link {
  readonly accountId: string
  readonly seq: bigint
  readonly balance: bigint
  readonly hash: Buffer
}

/** Recomputes every player's hash chain: numbers without a gap, running balances, and each hash over the one before. */
export const chains: Check = {
  name: 'chains',
  async run({ client }, progress) {
    const { rows: counted } = await client.query<{ n: string }>(
      'select count(*) as n from wallet.entry where seq is not null',
    )
    const total = Number(counted[0]?.n ?? 0)
    const differences: Omit<Difference, 'check'>[] = []
    let differencesTotal = 0
    let compared = 0
    let previous: Link | undefined
    for (;;) {
      const { rows } = await client.query<Row>(pageStatement, [previous?.accountId ?? '0', String(previous?.seq ?? 0n)])
      for (const row of rows) {
        const start = { accountId: row.accountId, seq: 0n, balance: 0n, hash: row.genesis }
        const fault = faultOf(row, previous?.accountId === row.accountId ? previous : start)
        if (fault !== null && ++differencesTotal <= listedMax) differences.push(fault)
        previous = {
          accountId: row.accountId,
          seq: BigInt(row.seq),
          balance: BigInt(row.balance),
          hash: row.hash,
        }
      }
      compared += rows.length
      progress(compared, total)
      if (rows.length < pageMax) return { compared, differences, differencesTotal }
    }
  },
}

/** What is wrong with an entry, seen from the one before it as it is stored: one edited row is named once. */
function faultOf(row: Row, previous: Link): Omit<Difference, 'check'> | null {
  const where = { brandId: row.brandId, subject: `${row.playerId} entry ${row.seq} (${row.transferId})` }
  if (row.transferBrand === null || row.genesis === null) {
    const explanation = 'The account or the transfer of an entry is gone.'
    return { ...where, expected: 'an account and a transfer', actual: 'nothing', explanation }
  }
  if (BigInt(row.seq) !== previous.seq + 1n) {
    const explanation = 'Entries are missing before this one.'
    return { ...where, expected: `entry ${previous.seq + 1n}`, actual: `entry ${row.seq}`, explanation }
  }
  const balance = previous.balance + BigInt(row.amount)
  if (BigInt(row.balance) !== balance) {
    const explanation = 'The balance after an entry is not the one before plus its amount (minor units).'
    return { ...where, expected: String(balance), actual: row.balance, explanation }
  }
  const hash = hashOf(row, previous.hash)
  if (hash.equals(row.hash)) return null
  const explanation = 'The hash does not cover what is stored: this row, its transfer or the one before was changed.'
  return { ...where, expected: hash.toString('hex'), actual: row.hash.toString('hex'), explanation }
}

function hashOf(row: Row, previous: Buffer): Buffer {
  const entry = {
    accountId: BigInt(row.accountId),
    seq: BigInt(row.seq),
    amount: BigInt(row.amount),
    balance: BigInt(row.balance),
  }
  return entryHash(previous, entry, {
    ...row,
    id: row.transferId,
    brandId: row.transferBrand ?? '',
    debitAccount: BigInt(row.debitAccount),
    creditAccount: BigInt(row.creditAccount),
    amount: BigInt(row.transferAmount),
  })
}
