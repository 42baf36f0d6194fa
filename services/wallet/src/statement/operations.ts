import { fromMinorUnits, invalid, operations, Rejection, toMinorUnits } from '@backoffice/contracts'
import { fitting, handle, toPage } from '@backoffice/service-runtime'
import { playerRows } from '@backoffice/team-access'
import { balanceOf, findBalanceOfPlayer } from '../ledger/records.ts'
import {
  findEntries,
  findEntry,
  findEntryUnder,
  isSettled,
  listEntriesOf,
  listEntriesOfPeriod,
  listEntriesOfRound,
  type Page,
  type PeriodPlace,
  type PeriodTotals,
  playerTables,
  readPages,
  type StatementEntry,
  sumPeriod,
} from './records.ts'
import { decodeCursor, encodeCursor, ledgerItem, sealOf, teamEntry, transferIdOf } from './views.ts'

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
  const hash = entries.length > limit ? last?.hashOfEnd : null
  const nextCursor = last !== undefined && hash != null ? encodeCursor({ seq: last.seq, hash }) : null
  return { data: page.map(ledgerItem), nextCursor }
}

export const listEntries = handle(operations.wallet.listEntries, async ({ input }, { db }) => {
  const { transferId, reference, before, limit, type, from, to } = input
  const amountFrom = input.amountFrom === undefined ? undefined : toMinorUnits(input.amountFrom)
  const named = transferId === undefined ? undefined : await findEntry(db, transferIdOf(transferId))
  const playerId = input.playerId ?? named?.playerId
  if (playerId === undefined)
    throw transferId === undefined
      ? invalid('body', '/playerId', 'is required without transferId')
      : new Rejection('TRANSFER_NOT_FOUND')
  const account = await findBalanceOfPlayer(db, playerId)
  if (account === undefined) throw new Rejection('PLAYER_NOT_FOUND')
  const { brandId } = account
  const last = before === undefined ? undefined : await findEntry(db, transferIdOf(before))
  if (before !== undefined && last?.playerId !== playerId) return { ...balanceOf(account), data: [], nextCursor: null }
  const asked = { brandId, playerId, before: last?.seq ?? null, limit: limit + 1 }
  // A round has many entries, and its id is no transfer's reference.
  if (transferId === undefined && reference?.startsWith('rnd_')) {
    const entries = (await listEntriesOfRound(db, { ...asked, roundId: reference })).filter(
      (entry) => entry.playerId === playerId,
    )
    return { ...balanceOf(account), ...toPage(entries.map(teamEntry), limit, ({ id }) => id) }
  }
  if (transferId !== undefined || reference !== undefined) {
    const entry = reference === undefined ? named : await findEntryUnder(db, { brandId, reference })
    const isAsked = entry?.playerId === playerId && (transferId === undefined || entry === named)
    return { ...balanceOf(account), data: isAsked ? [teamEntry(entry)] : [], nextCursor: null }
  }
  const isFiltered = [type, from, to, amountFrom].some((filter) => filter !== undefined)
  const entries = isFiltered
    ? await listEntriesOf(db, { ...asked, type, amountFrom, from: asDate(from), to: asDate(to) })
    : await findEntries(db, (await readPages(db, [asked]))[0]?.entries.map((entry) => entry.transferId) ?? [])
  return { ...balanceOf(account), ...toPage(entries.map(teamEntry), limit, ({ id }) => id) }
})

const asDate = (time: string | undefined) => (time === undefined ? undefined : new Date(time))

export const exportStatement = handle(operations.wallet.exportStatement, async ({ input }, { db }) => {
  const { brandId, cursor, limit } = input
  const period = { brandId, from: new Date(input.from), to: new Date(input.to) }
  if (!(await isSettled(db, period.to)))
    throw invalid('body', '/to', 'must be at least a minute ago, because entries of the last minute are still coming')
  const after = cursor === undefined ? null : placeOf(cursor)
  const [entries, totals] = await Promise.all([
    listEntriesOfPeriod(db, period, { after, limit: limit + 1 }),
    sumPeriod(db, period),
  ])
  const data = fitting(entries.map(teamEntry), limit)
  const last = entries[data.length - 1]
  return {
    data,
    nextCursor: entries.length > data.length && last !== undefined ? cursorAt(last) : null,
    totals: totals.map(totalsOf),
  }
})

/** The team's cursor in a period. It may be readable, because the team may see every entry. */
const cursorAt = ({ createdAt, transferId }: StatementEntry) => `${createdAt.toISOString()}/${transferId}`

function placeOf(cursor: string): PeriodPlace {
  const [, time = '', transferId = ''] = /^([^/]+)\/([^/]+)$/.exec(cursor) ?? []
  const createdAt = new Date(time)
  if (transferId === '' || Number.isNaN(createdAt.getTime()))
    throw invalid('body', '/cursor', 'is not a cursor of a statement')
  return { createdAt, transferId }
}

function totalsOf({ currency, posted, sinceFrom, sinceTo, byType }: PeriodTotals) {
  return {
    currency,
    openingBalance: fromMinorUnits(posted - sinceFrom),
    byType: byType.map((line) => ({ ...line, amount: fromMinorUnits(line.amount) })),
    entries: byType.reduce((sum, { entries }) => sum + entries, 0),
    net: fromMinorUnits(sinceFrom - sinceTo),
    closingBalance: fromMinorUnits(posted - sinceTo),
  }
}

export const exportPlayer = handle(operations.wallet.exportPlayer, ({ input }, { db }) =>
  playerRows(db, playerTables, input),
)
