import { Type } from '@sinclair/typebox'
import { PathId } from '../resources.ts'
import { closed } from '../schema.ts'

export const PlayerPath = Type.Object({ playerId: PathId }, closed)
export const DepositPath = Type.Object({ depositId: PathId }, closed)
export const WithdrawalPath = Type.Object({ withdrawalId: PathId }, closed)
