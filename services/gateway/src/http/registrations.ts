import { type Input, operations, type StoredAmount } from '@backoffice/contracts'
import type { RpcClient } from '@backoffice/rpc'
import type { DailyUse } from './limits.ts'
import type { RouteContext } from './routes.ts'

const { registerPlayer, findPlayers } = operations.players

/** What two events store, with their deliveries: that a player is excluded, and that this has ended. */
const eventsOfExclusion: StoredAmount = { bytes: 14_000, rows: 13 }

/**
 * Of somebody who is excluded, operators are told right after the registration, and when the exclusion ends. Few are, so not
 * every registration counts with that. Its reply is of the record as it begins, for retries too, and so does not say who is:
 * players is asked once more, in a batch with other reads. Nobody waits for it, since the daily quota alone needs it.
 */
export function aroundRegistrations(
  rpc: Pick<RpcClient, 'call'>,
  dailyUse: Pick<DailyUse, 'followed'>,
): NonNullable<RouteContext['around']> {
  return async ({ operation, credential, request }, input, run) => {
    const reply = await run()
    if (operation.id !== registerPlayer.id) return reply
    const { externalId } = input as Input<typeof registerPlayer>
    const found = rpc.call(findPlayers, { scope: credential.scope, input: { externalId }, requestId: request.id })
    // Where nobody knows, it errs upwards.
    const isExcluded = found.then(
      ({ data }) => data.some(({ status }) => status === 'autoexcluido'),
      () => true,
    )
    void isExcluded.then((is) => is && dailyUse.followed({ credential }, eventsOfExclusion))
    return reply
  }
}
