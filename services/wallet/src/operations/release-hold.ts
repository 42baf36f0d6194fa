import { operations } from '@backoffice/contracts'
import { posting } from '@backoffice/service-runtime'
import { unexpected } from '../domain/unexpected.ts'
import type { Ledger } from '../storage/ledger.ts'

export const releaseHold = (ledger: Ledger) =>
  posting(operations.wallet.releaseHold, async ({ input, scope: { brandId, currency } }) => {
    const { playerId, withdrawalId: reference } = input
    const answer = await ledger.post({ kind: 'release', brandId, playerId, currency, reference })
    if (answer.outcome !== 'hold') throw unexpected(answer, `the release for ${reference}`)
    return { state: answer.state }
  })
