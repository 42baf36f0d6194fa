// Rules.

import { createHash } from 'node:crypto'

/** What the wallet writes down of a transfer. */
export interface Transfer {
  readonly id: string
  readonly brandId: string
  readonly reference: string
  readonly type: string
  readonly debitAccount: bigint
  readonly creditAccount: bigint
  readonly amount: bigint
  readonly outcome: string
  readonly reverses: string | null
  readonly reason: string | null
  readonly effectiveAt: Date
  readonly createdAt: Date
}

interface ChainedEntry {
  readonly accountId: bigint
  readonly seq: bigint
  readonly amount: bigint
  readonly balance: bigint
}

/**
 * The hash that a player's entry must have. It is written down here a second time on purpose: what is judged must not say
 * what is right.
 */
export function entryHash(previous: Buffer, entry: ChainedEntry, transfer: Transfer): Buffer {
  const content = JSON.stringify([
    String(entry.accountId),
    String(entry.seq),
    String(entry.amount),
    String(entry.balance),
    transfer.id,
    transfer.brandId,
    transfer.reference,
    transfer.type,
    String(transfer.debitAccount),
    String(transfer.creditAccount),
    String(transfer.amount),
    transfer.outcome,
    transfer.reverses,
    transfer.reason,
    transfer.effectiveAt.toISOString(),
    transfer.createdAt.toISOString(),
  ])
  return createHash('sha256').update(previous).update(content).digest()
}
