import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type ErrorCode, errorCatalogue, fromMinorUnits, type Operation, operations } from '@backoffice/contracts'
import { hourMs } from '@backoffice/process'
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

/**
 * What an operator would write down about its players: the rules of the API once more, in a few lines and in memory.
 * It shares no code with the services. Amounts are minor units, times are epoch milliseconds.
 */
export type Outcome = 'done' | string

export interface BookedPlayer {
  readonly id: string
  readonly externalId: string
  /** Whose player it is. */
  readonly cpf: string
  status: string
  kycStatus: string
  /** Null: never excluded. */
  exclusion: { readonly until: number | null } | null
  limit: bigint | null
  /** A higher limit, or none, that waits. */
  wish: { readonly limit: bigint | null; readonly from: number } | null
  /** Oldest first. */
  readonly entries: {
    readonly type: 'DEPOSIT' | 'WITHDRAWAL' | 'BET' | 'WIN'
    readonly amount: bigint
    readonly cause: string
  }[]
  /** Of the game that stakes money. */
  session: { readonly id: string; readonly expiresAt: number } | null
  held: bigint
}

export interface BookedDeposit {
  readonly id: string
  readonly player: BookedPlayer
  readonly amount: bigint
  readonly reference: string
  readonly at: number
  status: 'pending' | 'confirmed' | 'failed'
}

export interface BookedWithdrawal {
  readonly id: string
  readonly player: BookedPlayer
  readonly amount: bigint
  status: 'under_review' | 'approved' | 'paid' | 'rejected' | 'cancelled' | 'failed'
  approvedBy: string | null
}

/** The game of the catalogue that a provider serves. */
export const stakedGame = 'lucky-tiger'

export type Decision = 'approve' | 'reject' | 'pay' | 'fail'
/** São Paulo is three hours behind UTC all year. */
const dayOf = (at: number) => Math.floor((at - 3 * hourMs) / (24 * hourMs))

export const posted = ({ entries }: BookedPlayer): bigint => entries.reduce((sum, { amount }) => sum + amount, 0n)
export const withdrawable = (player: BookedPlayer): bigint => posted(player) - player.held

/** In the sandbox: a deposit that is refused, and a withdrawal whose payment fails. */
export const blockedDeposit = 141_414n
export const failingWithdrawal = 1_313n

export class Book {
  readonly players: BookedPlayer[] = []
  readonly deposits: BookedDeposit[] = []
  readonly withdrawals: BookedWithdrawal[] = []
  readonly isSandbox: boolean

  constructor(isSandbox: boolean) {
    this.isSandbox = isSandbox
  }

  registered(id: string, externalId: string, cpf: string): void {
    const limits = { exclusion: null, limit: null, wish: null }
    this.players.push({
      id,
      externalId,
      cpf,
      status: 'ativo',
      kycStatus: 'nao_iniciado',
      ...limits,
      session: null,
      entries: [],
      held: 0n,
    })
  }

  /** What a decision about the identity check changes; a submission changes nothing once it is approved. */
  submitsDocuments(player: BookedPlayer): Outcome {
    if (player.kycStatus === 'aprovado') return 'KYC_ALREADY_APPROVED'
    player.kycStatus = 'em_analise'
    return 'done'
  }

  /** A self-exclusion is of the person, so it holds for every player with the CPF. */
  isExcluded({ cpf }: BookedPlayer, now: number): boolean {
    const own = this.players.filter((player) => player.cpf === cpf)
    return own.some((player) => player.status === 'autoexcluido' || this.#runs(player, now))
  }

  #runs({ exclusion }: BookedPlayer, now: number): boolean {
    return exclusion !== null && (exclusion.until === null || now < exclusion.until)
  }

  /** The status that everybody sees. */
  seen(player: BookedPlayer, now: number): string {
    return this.isExcluded(player, now) ? 'autoexcluido' : player.status
  }

  /** A running exclusion is made longer, never shorter. */
  excludes(player: BookedPlayer, until: number | null, now: number): Outcome {
    const end = this.#runs(player, now) ? (player.exclusion?.until ?? Number.POSITIVE_INFINITY) : now + 1
    if ((until ?? Number.POSITIVE_INFINITY) < end) return 'VALIDATION_ERROR'
    player.exclusion = { until }
    return 'done'
  }

  /** What one person of the team gets for it: in production two people end a self-exclusion. */
  setsStatusAlone(player: BookedPlayer, status: string): Outcome {
    const ends = player.status === 'autoexcluido' && status !== 'autoexcluido'
    return ends && !this.isSandbox ? 'AWAITS_APPROVAL' : 'done'
  }

  limitOf({ limit, wish }: BookedPlayer, now: number): bigint | null {
    return wish !== null && now >= wish.from ? wish.limit : limit
  }

  /** Lowering holds at once, raising or removing after 24 hours. */
  setsLimit(player: BookedPlayer, wished: bigint | null, now: number): void {
    const current = this.limitOf(player, now)
    const holdsAtOnce = current === null || (wished !== null && wished <= current)
    player.limit = holdsAtOnce ? wished : current
    player.wish = holdsAtOnce ? null : { limit: wished, from: now + 24 * hourMs }
  }

  /** Today's deposits, pending and confirmed. */
  dayTotal(player: BookedPlayer, now: number): bigint {
    const today = this.deposits.filter(
      (deposit) => deposit.player === player && deposit.status !== 'failed' && dayOf(deposit.at) === dayOf(now),
    )
    return today.reduce((sum, { amount }) => sum + amount, 0n)
  }

  admitsDeposit(
    player: BookedPlayer,
    { amount, currency, reference }: { readonly amount: bigint; readonly currency: string; readonly reference: string },
    now: number,
  ): Outcome {
    if (this.deposits.some((deposit) => deposit.reference === reference)) return 'DEPOSIT_ALREADY_EXISTS'
    if (currency !== 'BRL') return 'CURRENCY_MISMATCH'
    if (this.isExcluded(player, now) || (this.isSandbox && amount === blockedDeposit)) return 'RG_BLOCKED'
    if (player.status !== 'ativo') return 'PLAYER_NOT_ACTIVE'
    const limit = this.limitOf(player, now)
    return limit !== null && this.dayTotal(player, now) + amount > limit ? 'RG_BLOCKED' : 'done'
  }

  settles(deposit: BookedDeposit, command: 'confirm' | 'fail'): Outcome {
    if (deposit.status !== 'pending') return 'DEPOSIT_NOT_PENDING'
    const { player, amount, id } = deposit
    deposit.status = command === 'confirm' ? 'confirmed' : 'failed'
    if (command === 'confirm') player.entries.push({ type: 'DEPOSIT', amount, cause: id })
    return 'done'
  }

  admitsWithdrawal(player: BookedPlayer, amount: bigint, currency: string): Outcome {
    if (currency !== 'BRL') return 'CURRENCY_MISMATCH'
    if (player.kycStatus !== 'aprovado') return 'KYC_NOT_APPROVED'
    return withdrawable(player) < amount ? 'INSUFFICIENT_FUNDS' : 'done'
  }

  requested(id: string, player: BookedPlayer, amount: bigint): void {
    player.held += amount
    this.withdrawals.push({ id, player, amount, status: 'under_review', approvedBy: null })
  }

  cancels(withdrawal: BookedWithdrawal): Outcome {
    if (withdrawal.status !== 'under_review') return 'WITHDRAWAL_NOT_CANCELLABLE'
    this.#ends(withdrawal, 'cancelled')
    return 'done'
  }

  /** @param by the person of the team; in the sandbox nobody */
  decides(withdrawal: BookedWithdrawal, decision: Decision, by: string | null): Outcome {
    const from = decision === 'approve' || decision === 'reject' ? 'under_review' : 'approved'
    if (withdrawal.status !== from) return 'WITHDRAWAL_INVALID_STATE'
    if (decision === 'pay' && by !== null && withdrawal.approvedBy === by) return 'TWO_PEOPLE_REQUIRED'
    const fails = decision === 'fail' || (this.isSandbox && withdrawal.amount === failingWithdrawal)
    if (decision === 'approve') Object.assign(withdrawal, { status: 'approved', approvedBy: by })
    else if (decision === 'reject') this.#ends(withdrawal, 'rejected')
    else this.#ends(withdrawal, fails ? 'failed' : 'paid')
    return 'done'
  }

  #ends(withdrawal: BookedWithdrawal, status: BookedWithdrawal['status']): void {
    const { player, amount, id } = withdrawal
    withdrawal.status = status
    player.held -= amount
    if (status === 'paid') player.entries.push({ type: 'WITHDRAWAL', amount: -amount, cause: id })
  }

  /** @param expiresAt of the session, where one is open */
  admitsToPlay(player: BookedPlayer, now: number, expiresAt = Number.POSITIVE_INFINITY): Outcome {
    if (this.isExcluded(player, now)) return 'RG_BLOCKED'
    if (player.status !== 'ativo') return 'PLAYER_NOT_ACTIVE'
    if (player.kycStatus !== 'aprovado') return 'KYC_NOT_APPROVED'
    if (expiresAt <= now) return 'SESSION_EXPIRED'
    const limit = this.limitOf(player, now)
    return limit !== null && this.dayTotal(player, now) > limit ? 'RG_BLOCKED' : 'done'
  }

  /** What is reserved for withdrawals is not staked. */
  spins(player: BookedPlayer, { stake, win }: { readonly stake: bigint; readonly win: bigint }, now: number): Outcome {
    const admitted = this.admitsToPlay(player, now, player.session?.expiresAt)
    if (admitted !== 'done') return admitted
    if (withdrawable(player) < stake) return 'INSUFFICIENT_FUNDS'
    player.entries.push({ type: 'BET', amount: -stake, cause: 'a round' })
    if (win > 0n) player.entries.push({ type: 'WIN', amount: win, cause: 'a round' })
    return 'done'
  }
}

/** The running system, as an operator's server and the team reach it. */
export interface Reached {
  readonly operator: OperatorClient
  readonly clock: { readonly time: number; readonly pass: (ms: number) => Promise<void> }
  readonly team: (user: TeamUser, operation: Operation, input: object) => Promise<unknown>
  /** What may take two people of the team. */
  readonly agreed: (operation: Operation, input: object) => Promise<unknown>
  /** A spin of the provider that serves the sandbox's game. @returns what it was refused with, or `done` */
  readonly spin: (fields: object) => Promise<Outcome>
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
    cause: reference.id.startsWith('rnd_') ? 'a round' : reference.id,
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
