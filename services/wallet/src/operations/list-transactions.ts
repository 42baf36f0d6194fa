import { invalid, operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { decodeCursor, encodeCursor, sealOf } from '../domain/cursor.ts'
import { type Page, readPages } from '../storage/statement.ts'
import { ledgerItem } from '../views/entry.ts'

const limitDefault = 50
/** Where an invalid cursor points: no entry has this number. */
const nowhere = { seq: 0n, seal: Buffer.of() }

export const listTransactions = handle(operations.wallet.listTransactions, {
  async read(calls, { db }) {
    const asked = calls.map(({ input: { playerId, cursor, limit = limitDefault }, scope: { brandId } }) => {
      const position = cursor === undefined ? null : (decodeCursor(cursor) ?? nowhere)
      // One entry more than asked for shows whether another page follows.
      return { brandId, playerId, before: position?.seq ?? null, limit: limit + 1, shown: limit, position }
    })
    const pages = await readPages(db, asked)
    return asked.map(({ position, shown }, index) => {
      const page = pages[index]
      if (page === undefined) return new Rejection('PLAYER_NOT_FOUND')
      if (position !== null && !isSealed(page, position.seal)) return notACursor()
      return replyOf(page, shown)
    })
  },
})

const isSealed = ({ hash }: Page, seal: Buffer): boolean => hash !== null && sealOf(hash).equals(seal)

const notACursor = () => invalid('query', '/cursor', "is not a cursor of this player's statement")

function replyOf({ entries }: Page, limit: number) {
  const page = entries.slice(0, limit)
  const last = page.at(-1)
  const nextCursor = entries.length > limit && last !== undefined ? encodeCursor(last) : null
  return { data: page.map(ledgerItem), nextCursor }
}
