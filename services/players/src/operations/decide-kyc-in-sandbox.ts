import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { kycDecision } from '../steps/change-kyc.ts'

export const decideKycInSandbox = handle(
  operations.players.decideKycInSandbox,
  kycDecision(({ scope }) => ({ brandId: scope.brandId, actor: 'sandbox', isPerson: false })),
)
