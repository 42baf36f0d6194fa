import { operations } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { decidePlayersKyc } from '../kyc/decide.ts'

export const decideKyc = command(operations.players.decideKyc, {
  execute: ({ input, actor }, tools) => decidePlayersKyc(tools, { ...input, reason: input.reason ?? null, actor }),
})
