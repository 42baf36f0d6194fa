import { operations, seenOfSubmission, seenOfWithdrawal } from '@backoffice/contracts'
import type { RpcClient } from '@backoffice/rpc'

/** What somebody of the team says of a withdrawal with their decision, after they have looked at it. */
export async function seenWithdrawal(team: Pick<RpcClient, 'call'>, withdrawalId: string) {
  const shown = await team.call(operations.payments.showWithdrawal, { input: { withdrawalId } })
  return { withdrawalId, ...seenOfWithdrawal(shown) }
}

/** What somebody of the team has seen of a player's identity check before they decide about it. */
export async function seenSubmission(team: Pick<RpcClient, 'call'>, playerId: string) {
  const player = await team.call(operations.players.showPlayer, { input: { playerId } })
  const [submission] = player.submissions
  if (submission === undefined) return { playerId, submission: null }
  return { playerId, submission: submission.id, seen: seenOfSubmission({ player, submission }) }
}
