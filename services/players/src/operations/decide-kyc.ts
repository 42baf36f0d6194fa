import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { kycDecision } from '../steps/change-kyc.ts'

export const decideKyc = handle(
  operations.players.decideKyc,
  kycDecision(({ actor }) => ({ brandId: null, actor, isPerson: true })),
)
