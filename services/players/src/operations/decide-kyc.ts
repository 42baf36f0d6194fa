import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { kycDecision } from '../steps/change-kyc.ts'

export const decideKyc = ({ kycTermMs }: { readonly kycTermMs: number | null }) =>
  handle(
    operations.players.decideKyc,
    kycDecision(kycTermMs, ({ actor }) => ({ brandId: null, actor, isPerson: true })),
  )
