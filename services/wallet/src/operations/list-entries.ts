import { operations, Rejection } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { transferIdOf } from '../domain/ledger-item.ts'
import { findAccount } from '../storage/find-account.ts'
import { findEntry, listEntriesBefore } from '../storage/statement.ts'
import { balanceOf } from '../views/balance.ts'
import { teamEntry } from '../views/entry.ts'

export const listEntries = query(operations.wallet.listEntries, async ({ input }, { em, sql }) => {
  const { brandId, playerId, before, limit } = input
  const account = await findAccount(em, { brandId, playerId })
  if (account === null) throw new Rejection('PLAYER_NOT_FOUND')
  const last = before === undefined ? null : await findEntry(sql, { transferId: transferIdOf(before), brandId })
  const entries =
    before !== undefined && last?.playerId !== playerId
      ? []
      : await listEntriesBefore(sql, { accountId: account.id, before: last?.seq ?? null, limit })
  return { ...balanceOf(account), data: entries.map(teamEntry) }
})
