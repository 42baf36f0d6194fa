import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { findBalances, playerOf } from '../storage/accounts.ts'
import { balanceOf } from '../views/balance.ts'

export const readAccount = handle(operations.wallet.readAccount, {
  async read(calls, { db }) {
    const accounts = await findBalances(db, calls.map(playerOf))
    return accounts.map((account) =>
      account === undefined
        ? new Rejection('PLAYER_NOT_FOUND')
        : { ...balanceOf(account), updatedAt: account.updatedAt.toISOString() },
    )
  },
})
