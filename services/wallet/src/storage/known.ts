import { columnNames, type ReadDb, unnest } from '@backoffice/service-runtime'
import type { LedgerState } from '../domain/decide.ts'
import { brandKey, type Hold, type Posting, type Transfer } from '../domain/posting.ts'
import { transferColumns } from './transfers.ts'

export const holdColumns = `
  brand_id text, reference text, account_id bigint, amount bigint, state text, transfer_id text, opened_at timestamptz,
  closed_at timestamptz
`

/**
 * What is stored under the references of a batch. The statements come after the locks, so that they see what was
 * committed while the locks were waited for.
 */
export async function readKnown(
  db: ReadDb,
  batch: readonly Posting[],
): Promise<Pick<LedgerState, 'transfers' | 'holds' | 'reversed'>> {
  const reverses = batch.flatMap((posting) =>
    (posting.kind === 'credit' || posting.kind === 'debit') && posting.reverses !== undefined ? [posting.reverses] : [],
  )
  const ofKinds = (...kinds: Posting['kind'][]) => batch.filter(({ kind }) => kinds.includes(kind))
  const [transfers, holds, reversed] = await Promise.all([
    readTransfers(db, ofKinds('credit', 'debit', 'refusal', 'capture')),
    readHolds(db, ofKinds('hold', 'capture', 'release')),
    readReversed(db, reverses),
  ])
  return { transfers, holds, reversed }
}

const byReference = <Row extends { readonly brandId: string; readonly reference: string }>(rows: readonly Row[]) =>
  new Map(rows.map((row) => [brandKey(row.brandId, row.reference), row]))

const referenceColumns = 'brand_id text, reference text'

async function readTransfers(db: ReadDb, batch: readonly Posting[]): Promise<Map<string, Transfer>> {
  if (batch.length === 0) return new Map()
  return byReference(
    await db<Transfer>`
      select ${columnNames(transferColumns)}
      from ${unnest('asked', batch, referenceColumns)} join transfer using (brand_id, reference)
    `,
  )
}

async function readHolds(db: ReadDb, batch: readonly Posting[]): Promise<Map<string, Hold>> {
  if (batch.length === 0) return new Map()
  return byReference(
    await db<Hold>`
      select ${columnNames(holdColumns)}
      from ${unnest('asked', batch, referenceColumns)} join hold using (brand_id, reference)
    `,
  )
}

async function readReversed(db: ReadDb, transferIds: readonly string[]): Promise<Set<string>> {
  if (transferIds.length === 0) return new Set()
  const rows = await db<{ reverses: string }>`
    select reverses from transfer where reverses = any(${transferIds}::text[]) and outcome = 'posted'
  `
  return new Set(rows.map(({ reverses }) => reverses))
}
