import { operations, Rejection } from '@backoffice/contracts'
import { handle, toPage } from '@backoffice/service-runtime'
import { transferIdOf } from '../domain/ledger-item.ts'
import { findBalanceOfPlayer } from '../storage/accounts.ts'
import { findEntry, listEntriesOf, readPages } from '../storage/statement.ts'
import { balanceOf } from '../views/balance.ts'
import { teamEntry } from '../views/entry.ts'

export const listEntries = handle(operations.wallet.listEntries, async ({ input }, { db }) => {
  const { playerId, transferId, before, limit, type, from, to } = input
  const account = await findBalanceOfPlayer(db, playerId)
  if (account === undefined) throw new Rejection('PLAYER_NOT_FOUND')
  if (transferId !== undefined) {
    const entry = await findEntry(db, transferIdOf(transferId))
    return { ...balanceOf(account), data: entry?.playerId === playerId ? [teamEntry(entry)] : [], nextCursor: null }
  }
  const last = before === undefined ? undefined : await findEntry(db, transferIdOf(before))
  if (before !== undefined && last?.playerId !== playerId) return { ...balanceOf(account), data: [], nextCursor: null }
  const asked = { brandId: account.brandId, playerId, before: last?.seq ?? null, limit: limit + 1 }
  const isFiltered = type !== undefined || from !== undefined || to !== undefined
  const entries = isFiltered
    ? await listEntriesOf(db, { ...asked, type, from: asDate(from), to: asDate(to) })
    : ((await readPages(db, [asked]))[0]?.entries ?? [])
  return { ...balanceOf(account), ...toPage(entries.map(teamEntry), limit, ({ id }) => id) }
})

const asDate = (time: string | undefined) => (time === undefined ? undefined : new Date(time))
