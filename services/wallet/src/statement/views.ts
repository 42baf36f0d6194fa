import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { fromMinorUnits, type LedgerItem, ledgerCauses, type TeamEntry } from '@backoffice/contracts'
import type { ShownEntry, StatementEntry } from './records.ts'

/**
 * A transfer has one entry on a player's account, so an entry's public id is its transfer's with another prefix.
 */
export const ledgerItemId = (transferId: string): string => withPrefix('led', transferId)

/** The transfer behind a ledger item; a transfer's own id is taken as it is. */
export const transferIdOf = (id: string): string => (id.startsWith('led_') ? withPrefix('trf', id) : id)

function withPrefix(prefix: string, id: string): string {
  const separator = id.indexOf('_')
  assert(separator > 0, 'an id has a prefix')
  return `${prefix}${id.slice(separator)}`
}

/** Where a page ended: the number of the entry in its account, and a seal that is made from the entry's hash. */
export interface CursorPosition {
  readonly seq: bigint
  readonly seal: Buffer
}

const seqBytes = 8
const sealBytes = 16

/**
 * The seal of an entry. It is made from the account's hash chain, which begins with a random value. So nobody outside
 * can make one, it fits one entry of one player, and every replica can check it without a key.
 */
export function sealOf(entryHash: Buffer): Buffer {
  return createHash('sha256').update('statement cursor').update(entryHash).digest().subarray(0, sealBytes)
}

export function encodeCursor({ seq, hash }: { readonly seq: bigint; readonly hash: Buffer }): string {
  const position = Buffer.alloc(seqBytes)
  position.writeBigInt64BE(seq)
  return Buffer.concat([position, sealOf(hash)]).toString('base64url')
}

/** @returns null for anything that `encodeCursor` did not write */
export function decodeCursor(cursor: string): CursorPosition | null {
  const bytes = Buffer.from(cursor, 'base64url')
  if (bytes.length !== seqBytes + sealBytes || bytes.toString('base64url') !== cursor) return null
  const seq = bytes.readBigInt64BE()
  return seq > 0n ? { seq, seal: bytes.subarray(seqBytes) } : null
}

/** An entry as the operator reads it in the statement. */
export function ledgerItem(entry: ShownEntry): LedgerItem {
  return {
    id: ledgerItemId(entry.transferId),
    type: entry.type,
    amount: fromMinorUnits(entry.amount),
    currency: entry.currency,
    balanceAfter: fromMinorUnits(entry.balance),
    // What caused it: the id of a deposit or a withdrawal, the reference that the team gave, or the round of a game.
    reference:
      entry.roundId === null
        ? { type: ledgerCauses[entry.type], id: entry.reference }
        : { type: 'round', id: entry.roundId },
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
