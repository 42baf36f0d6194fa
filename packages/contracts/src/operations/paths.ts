import { Type } from '@sinclair/typebox'
import { PathId } from '../resources.ts'
import { closed, described } from '../schema.ts'

export const PlayerPath = Type.Object({ playerId: described(PathId, 'Id of the player, as we gave it.') }, closed)
export const DepositPath = Type.Object({ depositId: described(PathId, 'Id of the deposit.') }, closed)
export const WithdrawalPath = Type.Object({ withdrawalId: described(PathId, 'Id of the withdrawal.') }, closed)
