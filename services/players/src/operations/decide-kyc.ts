import { operations } from '@backoffice/contracts'
import { type Call, handle } from '@backoffice/service-runtime'
import { kycDecision } from '../steps/change-kyc.ts'

export const decideKyc = ({ kycTermMs }: { readonly kycTermMs: number | null }) =>
  handle(
    operations.players.decideKyc,
    kycDecision(kycTermMs, ({ actor, input }: Call<typeof operations.players.decideKyc>) => ({
      brandId: null,
      actor,
      person: { seen: input.submission },
    })),
  )
