import {
  type Input,
  type Operation,
  operations,
  type Reply,
  readSeen,
  type SeenPart,
  seenOfSubmission,
  seenOfWithdrawal,
} from '@backoffice/contracts'
import type { CallOptions, RpcClient } from '@backoffice/rpc'

type Caller = Pick<RpcClient, 'call'>
/** What a call says, but for what was seen. */
export type Unseen<O extends Operation> = Omit<Input<O>, 'seen'> & { readonly seen?: SeenPart<O> }

export type TeamCallOptions<O extends Operation> = Omit<CallOptions<O>, 'input'> & { readonly input: Unseen<O> }

/** Somebody of the team. Who does not say what they have seen looks before they decide. */
export type TeamClient = RpcClient & {
  call<O extends Operation>(operation: O, options: TeamCallOptions<O>): Promise<Reply<O>>
}

export function lookingFirst(client: Caller): TeamClient {
  const call = async <O extends Operation>(operation: O, options: TeamCallOptions<O>): Promise<Reply<O>> =>
    client.call(operation, { ...options, input: await withSeen(client, operation, options.input) })
  return { call } as TeamClient
}

/** An input with what is seen now. For one that is sent twice: what is seen then may be something else. */
export async function withSeen<O extends Operation>(team: Caller, operation: O, input: Unseen<O>): Promise<Input<O>> {
  const looks = 'seen' in operation.body.properties && !('seen' in input)
  const seen = looks ? await readSeen((query, asked) => team.call(query, { input: asked }), operation, input) : {}
  return { ...seen, ...input } as Input<O>
}

/** What somebody of the team says of a withdrawal with their decision, after they have looked at it. */
export async function seenWithdrawal(team: Caller, withdrawalId: string) {
  const shown = await team.call(operations.payments.showWithdrawal, { input: { withdrawalId } })
  return { withdrawalId, ...seenOfWithdrawal(shown) }
}

/** What somebody of the team has seen of a player's identity check before they decide about it. */
export async function seenSubmission(team: Caller, playerId: string) {
  const player = await team.call(operations.players.showPlayer, { input: { playerId } })
  const [submission] = player.submissions
  if (submission === undefined) return { playerId, submission: null, seen: null }
  return { playerId, submission: submission.id, seen: seenOfSubmission({ player, submission }) }
}
