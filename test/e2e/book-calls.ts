import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type ErrorCode, errorCatalogue, fromMinorUnits, type Operation, operations } from '@backoffice/contracts'
import type { RpcClient } from '@backoffice/rpc'
import {
  type HttpReply,
  newCpf,
  type OperatorClient,
  refusal,
  seenSubmission,
  seenWithdrawal,
  type TeamUser,
} from '@backoffice/test-kit'
import { playerRequest } from '../journey.ts'
import { type Book, type BookedPlayer, type Decision, type Outcome, posted, withdrawable } from './book.ts'

/** The running system, as an operator's server and the team reach it. */
export interface Reached {
  readonly operator: OperatorClient
  readonly clock: { readonly time: number; readonly pass: (ms: number) => Promise<void> }
  readonly team: (user: TeamUser, operation: Operation, input: object) => Promise<unknown>
  /** What may take two people of the team. */
  readonly agreed: (operation: Operation, input: object) => Promise<unknown>
  /** How often each outcome was met. */
  readonly met: Map<Outcome, number>
  /** The last request that went out with an Idempotency-Key. */
  last: { readonly path: string; readonly body: unknown; readonly key: string; readonly reply: HttpReply } | null
}

export const reason = 'a random test'

export function outcomeOf({ status, body }: HttpReply): Outcome {
  if (status < 300) return 'done'
  const { code } = body.error
  assert.equal(status, errorCatalogue[code as ErrorCode]?.status, `${code} has the status of the catalogue`)
  return code
}

function meet({ met }: Reached, outcome: Outcome): Outcome {
  met.set(outcome, (met.get(outcome) ?? 0) + 1)
  return outcome
}

/** Sends a request, several times at once if asked. All that is answered for good is one and the same. */
export async function post(reached: Reached, path: string, body: unknown = {}, sent = 1): Promise<HttpReply> {
  const key = randomUUID()
  const call = { idempotencyKey: key, timestamp: Math.floor(reached.clock.time / 1_000) }
  const replies = await Promise.all(Array.from({ length: sent }, () => reached.operator.post(path, body, call)))
  const [reply, ...others] = replies.filter((each) => outcomeOf(each) !== 'IDEMPOTENCY_IN_PROGRESS')
  assert.ok(reply, 'one of the copies goes on')
  for (const other of others) assert.deepEqual(other.bytes, reply.bytes)
  meet(reached, outcomeOf(reply))
  reached.last = { path, body, key, reply }
  return reply
}

const get = ({ operator, clock }: Reached, path: string) =>
  operator.get(path, { timestamp: Math.floor(clock.time / 1_000) })

/** The wallet of a player is what the book says. */
export async function compareWallet(reached: Reached, player: BookedPlayer): Promise<void> {
  const { body } = await get(reached, `/players/${player.id}/wallet`)
  assert.deepEqual(
    { available: body.available, withdrawable: body.withdrawable },
    { available: fromMinorUnits(posted(player)), withdrawable: fromMinorUnits(withdrawable(player)) },
  )
}

/** And so is the statement, read in pages of `limit` items. */
export async function compareStatement(reached: Reached, player: BookedPlayer, limit: number): Promise<void> {
  const items: { type: string; amount: string; balanceAfter: string; reference: { id: string } }[] = []
  let query = `?limit=${limit}`
  for (;;) {
    const { body } = await get(reached, `/players/${player.id}/transactions${query}`)
    items.push(...body.data)
    if (body.nextCursor === null) break
    query = `?limit=${limit}&cursor=${encodeURIComponent(body.nextCursor)}`
  }
  let balance = 0n
  const expected = player.entries.map(({ type, amount, cause }) => {
    balance += amount
    return { type, amount: fromMinorUnits(amount), balanceAfter: fromMinorUnits(balance), cause }
  })
  const seen = items.map(({ type, amount, balanceAfter, reference }) => ({
    type,
    amount,
    balanceAfter,
    cause: reference.id,
  }))
  assert.deepEqual(seen, expected.toReversed())
}

/** Everything that can be read about the players is what the book says. */
export async function compareAll(book: Book, reached: Reached): Promise<void> {
  for (const player of book.players) {
    await compareWallet(reached, player)
    await compareStatement(reached, player, 3)
    const found = await get(reached, `/players?externalId=${player.externalId}`)
    const { id, status, kycStatus } = found.body.data[0]
    const expected = { id: player.id, status: book.seen(player, reached.clock.time), kycStatus: player.kycStatus }
    assert.deepEqual({ id, status, kycStatus }, expected)
  }
  for (const { id, status } of book.withdrawals) {
    const { body } = await get(reached, `/withdrawals/${id}`)
    assert.equal(body.status, status)
  }
}

/** @param cpf of somebody who may have a player already; a new person's if it is not given */
export async function register(book: Book, reached: Reached, cpf = newCpf()): Promise<void> {
  const externalId = randomUUID()
  const reply = await post(reached, '/players', playerRequest(externalId, cpf))
  assert.equal(outcomeOf(reply), 'done')
  assert.equal(reply.body.status, 'ativo')
  book.registered(reply.body.id, externalId, cpf)
}

/** In the sandbox the operator decides by itself, in production the team does. */
export async function decideKyc(book: Book, reached: Reached, player: BookedPlayer, status: string): Promise<void> {
  const { id: playerId } = player
  if (book.isSandbox) {
    const reply = await post(reached, `/sandbox/players/${playerId}/kyc/decision`, { status })
    assert.equal(outcomeOf(reply), 'done')
    // It has no key, so there is nothing to replay.
    reached.last = null
  } else {
    const alice = { call: (operation, { input }) => reached.team('alice', operation, input) } as Pick<RpcClient, 'call'>
    const input = { ...(await seenSubmission(alice, playerId)), status, reason: 'a test' }
    await reached.team('alice', operations.players.decideKyc, input)
  }
  player.kycStatus = status
}

/** What a decision came to, whoever may take it in this environment. */
export async function sendDecision(
  book: Book,
  reached: Reached,
  id: string,
  decision: Decision,
  by: TeamUser,
): Promise<Outcome> {
  if (!book.isSandbox) {
    const team = { call: (operation, { input }) => reached.team(by, operation, input) } as Pick<RpcClient, 'call'>
    const input = { ...(await seenWithdrawal(team, id)), decision, reason }
    return meet(reached, (await refusal(reached.team(by, operations.payments.decideWithdrawal, input))) ?? 'done')
  }
  const timestamp = Math.floor(reached.clock.time / 1_000)
  return meet(
    reached,
    outcomeOf(await reached.operator.post(`/sandbox/withdrawals/${id}/decision`, { decision }, { timestamp })),
  )
}
