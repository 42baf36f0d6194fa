import { columnNames, sql } from '@backoffice/service-runtime'
import type { Transfer } from '../domain/posting.ts'

/** What of a transfer has one name wherever it is read; id and amount are also an entry's. */
const transferFacts = `
  brand_id text, reference text, type text, debit_account bigint, credit_account bigint, outcome text, reverses text,
  reason text, effective_at timestamptz, created_at timestamptz
` as const
export const transferColumns = `id text, amount bigint, ${transferFacts}` as const

/** One side of a transfer, read together with it: `amount` is the entry's, below zero for a debit. */
export interface EntryOfTransfer extends Omit<Transfer, 'id' | 'amount'> {
  readonly accountId: bigint
  readonly seq: bigint
  readonly amount: bigint
  readonly balance: bigint
  readonly hash: Buffer
  readonly transferId: string
  readonly transferAmount: bigint
}

/** The columns of `EntryOfTransfer`, from `entry e` and `transfer t`. */
export const entryColumns = sql`
  e.account_id, e.seq, e.amount, e.balance, e.hash, e.transfer_id, t.amount as transfer_amount,
  ${columnNames(transferFacts, 't')}
`
