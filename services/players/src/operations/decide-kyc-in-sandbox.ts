import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { kycDecision } from '../steps/change-kyc.ts'

export const decideKycInSandbox = ({ kycTermMs }: { readonly kycTermMs: number | null }) =>
  handle(
    operations.players.decideKycInSandbox,
    kycDecision(kycTermMs, ({ scope }) => ({ brandId: scope.brandId, actor: 'sandbox', isPerson: false })),
  )
