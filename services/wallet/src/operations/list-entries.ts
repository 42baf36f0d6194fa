import { operations, Rejection } from '@backoffice/contracts'
import { handle, toPage } from '@backoffice/service-runtime'
import { transferIdOf } from '../domain/ledger-item.ts'
import { findBalanceOfPlayer } from '../storage/accounts.ts'
import { findEntry, readPages } from '../storage/statement.ts'
import { balanceOf } from '../views/balance.ts'
import { teamEntry } from '../views/entry.ts'

export const listEntries = handle(operations.wallet.listEntries, async ({ input }, { db }) => {
  const { playerId, before, limit } = input
  const account = await findBalanceOfPlayer(db, playerId)
  if (account === undefined) throw new Rejection('PLAYER_NOT_FOUND')
  const last = before === undefined ? undefined : await findEntry(db, transferIdOf(before))
  if (before !== undefined && last?.playerId !== playerId) return { ...balanceOf(account), data: [] }
  const asked = { brandId: account.brandId, playerId, before: last?.seq ?? null, limit: limit + 1 }
  const [page] = await readPages(db, [asked])
  return { ...balanceOf(account), ...toPage((page?.entries ?? []).map(teamEntry), limit, ({ id }) => id) }
})
