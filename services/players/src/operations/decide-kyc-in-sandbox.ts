import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { kycDecision } from '../steps/change-kyc.ts'

/** The gateway lets sandbox credentials only come this far; the brand of the scope is then a sandbox brand. */
export const decideKycInSandbox = handle(
  operations.players.decideKycInSandbox,
  kycDecision(({ scope }) => ({ brandId: scope.brandId, actor: 'sandbox' })),
)
