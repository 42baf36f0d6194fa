import type { ReadDb } from '@backoffice/service-runtime'
import type { Kind } from './check.ts'

export interface RelatedRecords {
  readonly accountIds?: readonly bigint[]
  /** Of deposits and withdrawals. */
  readonly recordIds?: readonly string[]
  readonly holdKeys?: readonly string[]
}

/** From what was entered lately to what it is about. */
export const relations: Readonly<
  Partial<Record<Kind, (db: ReadDb, keys: readonly string[]) => Promise<RelatedRecords>>>
> = {
  async transfer(db, keys) {
    const entries = await db<{ accountId: bigint }>`
      select distinct account_id from wallet.entry where transfer_id = any(${keys}::text[]) and seq is not null
    `
    const transfers = await db<{ reference: string }>`
      select reference from wallet.transfer where id = any(${keys}::text[]) and type in ('DEPOSIT', 'WITHDRAWAL')
    `
    return {
      accountIds: entries.map(({ accountId }) => accountId),
      recordIds: transfers.map(({ reference }) => reference),
    }
  },
  event: async (_db, keys) => ({ recordIds: keys }),
  async paymentsAudit(db, keys) {
    const rows = await db<{ id: string | null }>`
      select coalesce(e.deposit_id, a.subject) as id from payments.reconcilable_audit a
      left join payments.reconcilable_ended_command e on e.command_id = a.subject where a.id = any(${keys}::text[])
    `
    return { recordIds: rows.map(({ id }) => id).filter((id) => id !== null) }
  },
  async withdrawal(db, keys) {
    const rows = await db<{ key: string }>`
      select json_build_array(brand_id, id)::text as key from payments.reconcilable_withdrawal where id = any(${keys}::text[])
    `
    return { holdKeys: rows.map(({ key }) => key) }
  },
  async hold(db, keys) {
    const rows = await db<{ accountId: bigint }>`
      select distinct h.account_id from unnest(${keys}::text[]) as k (key)
      join wallet.hold h on (h.brand_id, h.reference) = (k.key::json ->> 0, k.key::json ->> 1)
    `
    return { accountIds: rows.map(({ accountId }) => accountId) }
  },
}
