import { operations, Rejection } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { findAccount } from '../storage/find-account.ts'
import { balanceOf } from '../views/balance.ts'

export const getWallet = query(operations.wallet.getWallet, async ({ input: { playerId }, scope }, { em }) => {
  const account = await findAccount(em, { brandId: scope.brandId, playerId })
  if (account === null) throw new Rejection('PLAYER_NOT_FOUND')
  return { playerId, currency: account.currency, ...balanceOf(account), updatedAt: account.updatedAt.toISOString() }
})
