import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { unexpected } from '../domain/unexpected.ts'
import type { Ledger } from '../steps/ledger.ts'

export const releaseHold = (ledger: Ledger) =>
  handle(operations.wallet.releaseHold, async ({ input, scope: { brandId, currency } }) => {
    const { playerId, withdrawalId: reference } = input
    const result = await ledger.post({ kind: 'release', brandId, playerId, currency, reference })
    if (result.outcome !== 'hold') throw unexpected(result, `the release for ${reference}`)
    return { state: result.state }
  })
