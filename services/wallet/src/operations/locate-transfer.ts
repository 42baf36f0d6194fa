import { operations, Rejection } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { transferIdOf } from '../domain/ledger-item.ts'
import { findEntry } from '../storage/statement.ts'
import { teamEntry } from '../views/entry.ts'

export const locateTransfer = query(operations.wallet.locateTransfer, async ({ input: { id } }, { sql }) => {
  const entry = await findEntry(sql, { transferId: transferIdOf(id) })
  if (entry === null) throw new Rejection('TRANSFER_NOT_FOUND')
  return { ...teamEntry(entry), brandId: entry.brandId }
})
