import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import type { Ledger } from '../steps/ledger.ts'
import { brandKeeper } from '../storage/brands.ts'

export function openAccount(ledger: Ledger) {
  const keepBrand = brandKeeper()
  return handle(operations.wallet.openAccount, async ({ input: { playerId }, scope }, { db }) => {
    const { brandId, currency } = scope
    await keepBrand(db, scope)
    await ledger.openAccount({ brandId, playerId, currency })
    return { playerId }
  })
}
