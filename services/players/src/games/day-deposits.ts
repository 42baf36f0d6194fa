import { operations, toMinorUnits } from '@backoffice/contracts'
import type { RpcClient } from '@backoffice/rpc'
import type { Call } from '@backoffice/service-runtime'

type PlayerCall = Pick<Call, 'scope' | 'requestId' | 'deadline'> & { readonly input: { readonly playerId: string } }

/**
 * What a player has deposited today, in minor units. It is asked for only where there is a limit.
 * @throws {Rejection} SERVICE_UNAVAILABLE
 */
export async function readDayDeposits(call: PlayerCall, rpc: RpcClient): Promise<bigint> {
  const { scope, requestId, deadline } = call
  const input = { playerId: call.input.playerId }
  const { total } = await rpc.call(operations.payments.readDayDeposits, { scope, input, requestId, deadline })
  return toMinorUnits(total)
}
