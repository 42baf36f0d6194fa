import { operations } from '@backoffice/contracts'
import { posting } from '@backoffice/service-runtime'
import type { Ledger } from '../storage/ledger.ts'

export const openAccount = (ledger: Ledger) =>
  posting(operations.wallet.openAccount, async ({ input: { playerId }, scope: { brandId, currency } }) => {
    await ledger.open({ brandId, playerId, currency })
    return { playerId }
  })
