import { operations } from '@backoffice/contracts'
import { type Call, handle } from '@backoffice/service-runtime'
import { kycDecision } from '../steps/change-kyc.ts'

export const decideKycInSandbox = ({ kycTermMs }: { readonly kycTermMs: number | null }) =>
  handle(
    operations.players.decideKycInSandbox,
    kycDecision(kycTermMs, ({ scope }: Call<typeof operations.players.decideKycInSandbox>) => ({
      brandId: scope.brandId,
      actor: 'sandbox',
      person: null,
    })),
  )
