// Rules.

import { createHash } from 'node:crypto'
import { type Play, playDigest } from '../rounds/play.ts'
import type { Transfer } from './posting.ts'

export interface ChainedEntry {
  readonly accountId: bigint
  readonly seq: bigint
  readonly amount: bigint
  readonly balance: bigint
}

/**
 * The hash of a player's entry: it covers the hash before it and every field of the entry and its transfer, so that an
 * edited, removed or reordered row is found. The fields are written as JSON, so that two different rows cannot have the
 * same text. What a provider's play has posted is covered with all that the play says.
 */
export function entryHash(previous: Buffer, entry: ChainedEntry, transfer: Transfer, play?: Play): Buffer {
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
    ...(play === undefined ? [] : [playDigest(play)]),
  ])
  return createHash('sha256').update(previous).update(content).digest()
}
