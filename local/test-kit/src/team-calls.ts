import {
  defined,
  type ErrorCode,
  type Input,
  isReplySealed,
  type Operation,
  operations,
  type ReconciliationReport,
  Rejection,
  type Reply,
  readSeen,
  type SeenPart,
  seenOfSubmission,
  seenOfWithdrawal,
} from '@backoffice/contracts'
import type { CallOptions, RpcClient } from '@backoffice/rpc'
import { eventually } from './started.ts'

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
  const decided = { playerId, submission: submission.id, seen: seenOfSubmission({ player, submission }) }
  return submission.documentUrl == null ? { ...decided, restsOn: 'seen on paper' } : decided
}

/** What somebody has proposed, as the refusal of their call says it. */
export interface ProposedCommand {
  readonly proposalId: string
  readonly proposedBy: string
  readonly expiresAt: string
}

/**
 * The proposal that a call of the team makes, because the operation takes two people.
 * @throws when one person was enough, or the call was refused for another reason
 */
export async function proposalOf(call: Promise<unknown>): Promise<ProposedCommand> {
  const refused = await call.then(
    () => new Error('it took one person'),
    (error: unknown) => error,
  )
  if (!(refused instanceof Rejection) || refused.code !== 'AWAITS_APPROVAL') throw refused
  return refused.details as unknown as ProposedCommand
}

interface Team {
  team(user: 'alice' | 'bob'): TeamClient
}

/** Makes a call that takes two people: alice proposes it, and bob carries it out. What is shown once, alice is shown. */
export async function byTwo<O extends Operation>(bed: Team, operation: O, input: Unseen<O>): Promise<Reply<O>> {
  const { proposalId } = await proposalOf(bed.team('alice').call(operation, { input }))
  return carriedOut(bed, operation, { input, proposalId })
}

/** The same for a call that may be enough by itself. */
export async function agreedBy<O extends Operation>(bed: Team, operation: O, input: Unseen<O>): Promise<Reply<O>> {
  try {
    return await bed.team('alice').call(operation, { input })
  } catch (error) {
    if (!(error instanceof Rejection) || error.code !== 'AWAITS_APPROVAL') throw error
    return carriedOut(bed, operation, { input, proposalId: String(error.details?.proposalId) })
  }
}

async function carriedOut<O extends Operation>(
  bed: Team,
  operation: O,
  { input, proposalId }: { readonly input: Unseen<O>; readonly proposalId: string },
): Promise<Reply<O>> {
  const reply = await bed.team('bob').call(operation, { input, approves: proposalId })
  if (!isReplySealed(operation, input)) return reply
  const { listProposals } = operations[operation.service]
  const { data } = await bed.team('alice').call(listProposals, { input: { proposalId, limit: 1 } })
  const [proposal] = data
  // What was seen when it was proposed may be something else by now.
  const same = { ...(proposal?.input as Unseen<O>), ...defined({ reason: (input as { reason?: string }).reason }) }
  return bed.team('alice').call(operation, { input: same, ...defined({ operationId: proposal?.operationId }) })
}

/** The code that a call was refused with, or null when it was accepted. Any other error is thrown on. */
export async function refusal(call: Promise<unknown>): Promise<ErrorCode | null> {
  try {
    await call
    return null
  } catch (error) {
    if (error instanceof Rejection) return error.code
    throw error
  }
}

/** The same of a rule, which is asked at once. */
export function codeOf(rule: () => unknown): ErrorCode | null {
  try {
    rule()
    return null
  } catch (error) {
    if (error instanceof Rejection) return error.code
    throw error
  }
}

/**
 * What a reconciliation finds, asked for by somebody of the team: one over everything, unless the input says otherwise.
 * @throws when it fails
 */
export async function reconcile(
  team: Pick<RpcClient, 'call'>,
  input: Input<typeof operations.reconciler.reconcileWallet> = {},
): Promise<ReconciliationReport> {
  const { reconcileWallet } = operations.reconciler
  const { runId } = await eventually(() => team.call(reconcileWallet, { input }))
  const { state, report, failure } = await eventually(async () => {
    const run = await team.call(reconcileWallet, { input: { runId } })
    return (run.state === 'failed' || run.report !== null) && run
  })
  if (report === null || state === 'failed') throw new Error(failure ?? 'failed')
  return report
}
