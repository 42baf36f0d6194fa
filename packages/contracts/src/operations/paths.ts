import { Type } from '@sinclair/typebox'
import { PathId } from '../resources.ts'

export const PlayerPath = Type.Object({ playerId: PathId }, { additionalProperties: false })
export const DepositPath = Type.Object({ depositId: PathId }, { additionalProperties: false })
export const WithdrawalPath = Type.Object({ withdrawalId: PathId }, { additionalProperties: false })

/** Ids that the examples share, so that they read as one journey. */
export const sample = {
  playerId: 'ply_01kaj6dfw0e2x8bxmtpcs8nwfe',
  depositId: 'dep_01kaj6fqs2e1hv2q9rqf3x6t4m',
  withdrawalId: 'wdr_01kaj6j0a5fz7r6v4n0y2cj3sk',
} as const
