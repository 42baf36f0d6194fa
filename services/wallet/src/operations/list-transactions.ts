import { operations, Rejection } from '@backoffice/contracts'
import { query, type Sql } from '@backoffice/service-runtime'
import { decodeCursor, encodeCursor, sealOf } from '../domain/cursor.ts'
import { findAccount } from '../storage/find-account.ts'
import { listEntriesBefore, readEntryHash } from '../storage/statement.ts'
import { ledgerItem } from '../views/entry.ts'

const limitDefault = 50

export const listTransactions = query(operations.wallet.listTransactions, async ({ input, scope }, { em, sql }) => {
  const { playerId, cursor, limit = limitDefault } = input
  const account = await findAccount(em, { brandId: scope.brandId, playerId })
  if (account === null) throw new Rejection('PLAYER_NOT_FOUND')
  const before = cursor === undefined ? null : await openCursor(sql, { accountId: account.id, cursor })
  // One more than asked for tells whether another page follows.
  const entries = await listEntriesBefore(sql, { accountId: account.id, before, limit: limit + 1 })
  const page = entries.slice(0, limit)
  const last = page.at(-1)
  const nextCursor = entries.length > limit && last !== undefined ? encodeCursor(last) : null
  return { data: page.map(ledgerItem), nextCursor }
})

/** @throws {Rejection} VALIDATION_ERROR when the cursor is not one of this player's statement */
async function openCursor(
  connection: Sql,
  { accountId, cursor }: { readonly accountId: bigint; readonly cursor: string },
): Promise<bigint> {
  const position = decodeCursor(cursor)
  const hash = position === null ? null : await readEntryHash(connection, { accountId, seq: position.seq })
  if (position === null || hash === null || !sealOf(hash).equals(position.seal)) {
    const issues = [{ path: '/cursor', message: "is not a cursor of this player's statement" }]
    throw new Rejection('VALIDATION_ERROR', { in: 'query', issues })
  }
  return position.seq
}
