import { fromMinorUnits, type LedgerItem, type TeamEntry } from '@backoffice/contracts'
import { causeOf, ledgerItemId } from './item.ts'
import type { ShownEntry, StatementEntry } from './records.ts'

/** An entry as the operator reads it in the statement. */
export function ledgerItem(entry: ShownEntry): LedgerItem {
  return {
    id: ledgerItemId(entry.transferId),
    type: entry.type,
    amount: fromMinorUnits(entry.amount),
    currency: entry.currency,
    balanceAfter: fromMinorUnits(entry.balance),
    reference: causeOf(entry),
    createdAt: entry.createdAt.toISOString(),
  }
}

/** An entry as the team reads it. */
export function teamEntry(entry: StatementEntry): TeamEntry {
  return {
    ...ledgerItem(entry),
    playerId: entry.playerId,
    transferId: entry.transferId,
    reversesTransferId: entry.reverses,
    reason: entry.reason,
    by: entry.by,
    approvedBy: entry.approvedBy,
    effectiveAt: entry.effectiveAt.toISOString(),
  }
}
