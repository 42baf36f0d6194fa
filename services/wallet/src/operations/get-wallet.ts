import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { findBalances, playerOf } from '../storage/accounts.ts'
import { balanceOf } from '../views/balance.ts'

export const getWallet = handle(operations.wallet.getWallet, {
  async read(calls, { db }) {
    const accounts = await findBalances(db, calls.map(playerOf))
    return accounts.map((account) => {
      if (account === undefined) return new Rejection('PLAYER_NOT_FOUND')
      const { playerId, currency, updatedAt } = account
      return { playerId, currency, ...balanceOf(account), updatedAt: updatedAt.toISOString() }
    })
  },
})
