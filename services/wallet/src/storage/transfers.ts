import { sql } from '@backoffice/service-runtime'
import type { Transfer } from '../domain/posting.ts'

/** The columns of `transfer t` that have one name wherever they are read; id and amount are also an entry's. */
export const transferFacts = sql`
  t.brand_id, t.reference, t.type, t.debit_account, t.credit_account, t.outcome, t.reverses, t.reason, t.effective_at,
  t.created_at
`

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
  e.account_id, e.seq, e.amount, e.balance, e.hash, e.transfer_id, t.amount as transfer_amount, ${transferFacts}
`

/** The transfer behind an entry. */
export const transferOf = (entry: EntryOfTransfer): Transfer => ({
  ...entry,
  id: entry.transferId,
  amount: entry.transferAmount,
})
