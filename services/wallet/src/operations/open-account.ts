import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import type { Ledger } from '../steps/ledger.ts'
import { rememberBrand } from '../storage/brands.ts'

export const openAccount = (ledger: Ledger) =>
  handle(operations.wallet.openAccount, async ({ input: { playerId }, scope }, { db }) => {
    const { brandId, currency } = scope
    await rememberBrand(db, scope)
    await ledger.openAccount({ brandId, playerId, currency })
    return { playerId }
  })
