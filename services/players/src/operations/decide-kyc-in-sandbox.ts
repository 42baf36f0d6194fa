import { operations } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { decidePlayersKyc } from '../kyc/decide.ts'

/** The gateway lets sandbox credentials only come this far; the brand of the scope is then a sandbox brand. */
export const decideKycInSandbox = command(operations.players.decideKycInSandbox, {
  execute: ({ input, scope }, tools) =>
    decidePlayersKyc(tools, { ...input, brandId: scope.brandId, reason: input.reason ?? null, actor: 'sandbox' }),
})
