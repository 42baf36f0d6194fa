import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import type { Ledger } from '../steps/ledger.ts'

export const openAccount = (ledger: Ledger) =>
  handle(operations.wallet.openAccount, async ({ input: { playerId }, scope: { brandId, currency } }) => {
    await ledger.openAccount({ brandId, playerId, currency })
    return { playerId }
  })
