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

/** What the wallet writes down of a play, in the order of its columns. */
const playColumns = {
  id: 'text',
  providerId: 'text',
  brandId: 'text',
  kind: 'text',
  transactionId: 'text',
  accountId: 'bigint',
  roundId: 'text',
  providerRoundId: 'text',
  outcome: 'text',
  amount: 'bigint',
  betTransactionId: 'text',
  winKind: 'text',
  isSpin: 'boolean',
  endsRound: 'boolean',
  isFree: 'boolean',
  sessionId: 'text',
  gameId: 'text',
  campaignId: 'text',
  reason: 'text',
  detailsUrl: 'text',
  providerTime: 'time',
  refusedWith: 'text',
  refusedDetails: 'text',
  standing: 'text',
  bodyDigest: 'bytes',
  requestId: 'text',
  seq: 'bigint',
  balanceAfter: 'bigint',
  createdAt: 'time',
} as const
/** Each column of a play, with what it is written as: a number as its digits, a time in ISO 8601, bytes in hex. */
export const columnsOfPlay = Object.entries(playColumns) as readonly [
  keyof typeof playColumns,
  (typeof playColumns)[keyof typeof playColumns],
][]
export type Play = Readonly<Record<keyof typeof playColumns, unknown>>

/** Of every column. What moved no money is in no chain. */
export function playDigest(play: Play): string {
  const written = columnsOfPlay.map(([name, type]) => {
    const value = play[name]
    if (value === null) return null
    if (type === 'bigint') return String(value)
    if (type === 'time') return (value as Date).toISOString()
    return type === 'bytes' ? (value as Buffer).toString('hex') : value
  })
  return createHash('sha256').update(JSON.stringify(written)).digest('hex')
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
 * @param play of which the transfer is, if it is of one
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
