import type { LedgerType } from '@backoffice/contracts'
import type { Sql } from '@backoffice/service-runtime'
import { sql } from 'kysely'
import type { LedgerState } from '../domain/decide.ts'
import { type Hold, type KnownTransfer, type Posting, within } from '../domain/posting.ts'

/** What is stored under the references of a batch. Read in statements after the locks, so that they see what was waited for. */
export async function readKnown(
  connection: Sql,
  batch: readonly Posting[],
): Promise<Pick<LedgerState, 'transfers' | 'holds' | 'reversed'>> {
  const holds = batch.filter(({ kind }) => kind === 'hold' || kind === 'capture' || kind === 'release')
  const transfers = batch.filter(({ kind }) => kind === 'credit' || kind === 'debit' || kind === 'capture')
  const reverses = batch.flatMap((posting) =>
    (posting.kind === 'credit' || posting.kind === 'debit') && posting.reverses !== undefined ? [posting.reverses] : [],
  )
  return {
    transfers: await readTransfers(connection, transfers),
    holds: await readHolds(connection, holds),
    reversed: await readReversed(connection, reverses),
  }
}

interface TransferRow {
  readonly id: string
  readonly brandId: string
  readonly reference: string
  readonly type: LedgerType
  readonly debitAccount: string
  readonly creditAccount: string
  readonly amount: string
  readonly outcome: KnownTransfer['outcome']
  readonly reverses: string | null
}

async function readTransfers(connection: Sql, batch: readonly Posting[]): Promise<Map<string, KnownTransfer>> {
  if (batch.length === 0) return new Map()
  const { rows } = await sql<TransferRow>`
    select t.id, t.brand_id as "brandId", t.reference, t.type, t.debit_account as "debitAccount",
      t.credit_account as "creditAccount", t.amount, t.outcome, t.reverses
    from unnest(${batch.map(({ brandId }) => brandId)}::text[], ${batch.map(({ reference }) => reference)}::text[])
      as asked (brand_id, reference)
    join transfer t on t.brand_id = asked.brand_id and t.reference = asked.reference
  `.execute(connection)
  return new Map(
    rows.map((row) => [
      within(row.brandId, row.reference),
      {
        ...row,
        debitAccount: BigInt(row.debitAccount),
        creditAccount: BigInt(row.creditAccount),
        amount: BigInt(row.amount),
      },
    ]),
  )
}

interface HoldRow extends Pick<Hold, 'brandId' | 'reference' | 'state' | 'transferId'> {
  readonly accountId: string
  readonly amount: string | null
  readonly openedAt: Date | string | null
  readonly closedAt: Date | string | null
}

async function readHolds(connection: Sql, batch: readonly Posting[]): Promise<Map<string, Hold>> {
  if (batch.length === 0) return new Map()
  const { rows } = await sql<HoldRow>`
    select h.brand_id as "brandId", h.reference, h.account_id as "accountId", h.amount, h.state,
      h.transfer_id as "transferId", h.opened_at as "openedAt", h.closed_at as "closedAt"
    from unnest(${batch.map(({ brandId }) => brandId)}::text[], ${batch.map(({ reference }) => reference)}::text[])
      as asked (brand_id, reference)
    join hold h on h.brand_id = asked.brand_id and h.reference = asked.reference
  `.execute(connection)
  return new Map(
    rows.map((row) => [
      within(row.brandId, row.reference),
      {
        ...row,
        accountId: BigInt(row.accountId),
        amount: row.amount === null ? null : BigInt(row.amount),
        openedAt: row.openedAt === null ? null : new Date(row.openedAt),
        closedAt: row.closedAt === null ? null : new Date(row.closedAt),
      },
    ]),
  )
}

async function readReversed(connection: Sql, transferIds: readonly string[]): Promise<Set<string>> {
  if (transferIds.length === 0) return new Set()
  const { rows } = await sql<{ reverses: string }>`
    select reverses from transfer where reverses = any(${transferIds}::text[]) and outcome = 'posted'
  `.execute(connection)
  return new Set(rows.map(({ reverses }) => reverses))
}
