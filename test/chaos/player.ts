import { randomUUID } from 'node:crypto'
import { fromMinorUnits, toMinorUnits } from '@backoffice/contracts'
import type { HttpReply } from '@backoffice/test-kit'
import { playerRequest } from '../journey.ts'
import type { Asked, Client, Request } from './client.ts'
import type { Answer, Call, PlayerOperation, StatementItem } from './models.ts'
import type { Random } from './random.ts'

/** An operation that may still get its answer. */
interface Recorded extends PlayerOperation {
  returnedAt: number
  answer: Answer | undefined
  attempts: number
  readonly request: Request
  /** Of the final answer. */
  bytes: Buffer | undefined
}

/** What clients do: how often, and the one refusal that the state of a wallet or a record can cause. */
const acts: Readonly<Record<Call['kind'], { weight: number; path: string; refusal?: string }>> = {
  createDeposit: { weight: 18, path: '/players/{playerId}/deposits', refusal: 'RG_BLOCKED' },
  confirmDeposit: { weight: 20, path: '/deposits/{depositId}/confirm', refusal: 'DEPOSIT_NOT_PENDING' },
  failDeposit: { weight: 3, path: '/deposits/{depositId}/fail', refusal: 'DEPOSIT_NOT_PENDING' },
  requestWithdrawal: { weight: 14, path: '/players/{playerId}/withdrawals', refusal: 'INSUFFICIENT_FUNDS' },
  cancel: { weight: 4, path: '/withdrawals/{withdrawalId}/cancel', refusal: 'WITHDRAWAL_NOT_CANCELLABLE' },
  approve: { weight: 9, path: 'withdrawals/{withdrawalId}', refusal: 'WITHDRAWAL_INVALID_STATE' },
  reject: { weight: 3, path: 'withdrawals/{withdrawalId}', refusal: 'WITHDRAWAL_INVALID_STATE' },
  pay: { weight: 9, path: 'withdrawals/{withdrawalId}', refusal: 'WITHDRAWAL_INVALID_STATE' },
  readWallet: { weight: 10, path: '/players/{playerId}/wallet' },
  readStatement: { weight: 4, path: '/players/{playerId}/transactions?limit=200' },
  readWithdrawal: { weight: 6, path: '/withdrawals/{withdrawalId}' },
}
const weights = Object.fromEntries(Object.entries(acts).map(([kind, { weight }]) => [kind, weight])) as Readonly<
  Record<Call['kind'], number>
>

const amountMax = 9_999n
const dailyLimit = 40_000n
/** The sandbox fails the payment of this one. */
const amountReserved = 1_313n
/** Each broken-off request doubles what the search for an order has to try. */
const brokenOffMax = 4
const patienceMsMax = 40
const replayedMax = 5

/** A player, and all that its clients know of it. */
export class Player {
  readonly name: string
  readonly client: Client
  readonly history: Recorded[] = []
  /** What no client should ever see. */
  readonly problems: string[] = []
  id = ''
  #isRegistered = false
  /** Each limit that was set, one after the other. */
  readonly limits: string[] = []
  #brokenOff = 0

  constructor(name: string, client: Client) {
    this.name = name
    this.client = client
  }

  /** What the player may deposit on a day, in minor units. */
  get dailyLimit(): bigint | undefined {
    return this.limits.length === 0 ? undefined : dailyLimit
  }

  /** Limits what it may deposit on a day. A day later it would be more. */
  async keepTo(limit: (playerId: string, dailyDepositLimit: string) => Promise<'limited' | 'unknown'>): Promise<void> {
    for (const perDay of [dailyLimit, 10n * dailyLimit].map(fromMinorUnits)) {
      if ((await limit(this.id, perDay)) === 'limited') this.limits.push(perDay)
      else this.problems.push('there is no such player to limit')
    }
  }

  get isRegistered(): boolean {
    return this.#isRegistered
  }

  /** Registers the player and has its identity approved. */
  async register(random: Random): Promise<void> {
    const registered = await this.#send(post('/players', playerRequest()), random)
    if (registered?.status !== 201) return this.#unexpected('register', registered)
    this.id = registered.body.id
    const steps = [
      [post(`/players/${this.id}/kyc/submissions`, { documentType: 'rg', reference: 'doc-1' }), 201],
      [decision(`players/${this.id}/kyc`, { status: 'aprovado' }), 200],
    ] as const
    for (const [request, status] of steps) {
      const reply = await this.#send(request, random)
      if (reply?.status !== status) return this.#unexpected(request.path, reply)
    }
    this.#isRegistered = true
  }

  /** One operation of a client, which follows from its random numbers and from what is known of the player. */
  async act(client: string, random: Random): Promise<void> {
    const call = this.#choose(random)
    const operation = this.#begin(client, call)
    const { request } = operation
    if (request.idempotencyKey === undefined) {
      // Without a key each attempt is an operation of its own.
      this.#finish(operation, await this.client.askOnce(request, random))
    } else if (this.#brokenOff < brokenOffMax && random.oneIn(20)) {
      this.#brokenOff += 1
      this.#finish(operation, await this.client.askOnce(request, random, random.integer(1, patienceMsMax)))
    } else if (random.oneIn(10)) await this.#askTwice(operation, random)
    else this.#finish(operation, await this.#ask(request, random))
  }

  /** Comes back for half of what was broken off. The rest is never heard of again. */
  async comeBack(random: Random): Promise<void> {
    for (const operation of this.#keyed().filter(({ answer }) => answer === undefined)) {
      if (!random.oneIn(2)) continue
      this.#finish(operation, await this.#ask(operation.request, random))
    }
  }

  /** Sends some requests once more: each key still has its first answer, byte for byte. */
  async replay(random: Random): Promise<void> {
    const answered = this.#keyed().filter(({ bytes }) => bytes !== undefined)
    for (const { request, bytes } of random.shuffled(answered).slice(0, replayedMax)) {
      const { reply } = await this.#ask(request, random)
      if (bytes !== undefined && reply?.bytes.equals(bytes)) continue
      this.problems.push(`${request.path}: the answer was ${bytes}, and later ${reply?.bytes ?? 'missing'}`)
    }
  }

  #keyed(): readonly Recorded[] {
    return this.history.filter(({ request }) => request.idempotencyKey !== undefined)
  }

  /** The wallet, the statement and each withdrawal, as they are when nothing happens any more. */
  async readAll(random: Random): Promise<void> {
    const read = async (call: Call) => {
      const operation = this.#begin('last', call)
      this.#finish(operation, await this.#ask(operation.request, random))
    }
    for (const withdrawalId of this.withdrawals.keys()) await read({ kind: 'readWithdrawal', withdrawalId })
    await read({ kind: 'readWallet' })
    await read({ kind: 'readStatement' })
  }

  /** Amounts of deposits that the clients know, by id. */
  get deposits(): ReadonlyMap<string, bigint> {
    return this.#created('createDeposit')
  }

  get withdrawals(): ReadonlyMap<string, bigint> {
    return this.#created('requestWithdrawal')
  }

  #created(kind: 'createDeposit' | 'requestWithdrawal'): ReadonlyMap<string, bigint> {
    const created = this.history.flatMap(({ call, answer }): [string, bigint][] =>
      call.kind === kind && answer?.kind === 'record' ? [[answer.id, call.amount]] : [],
    )
    return new Map(created)
  }

  #choose(random: Random): Call {
    const kind = random.weighted(weights)
    const amount = BigInt(random.integer(1, Number(amountMax)))
    const some = { amount: amount === amountReserved ? amount + 1n : amount }
    switch (kind) {
      case 'createDeposit':
      case 'requestWithdrawal':
        return { kind, ...some }
      case 'confirmDeposit':
      case 'failDeposit': {
        const depositId = this.#target(this.deposits, random, ['pending'])
        if (depositId === undefined) return { kind: 'createDeposit', ...some }
        return { kind, depositId, amount: this.deposits.get(depositId) ?? 0n }
      }
      case 'readWallet':
      case 'readStatement':
        return { kind }
      default: {
        const withdrawalId = this.#target(this.withdrawals, random, ['under_review', 'approved'])
        return withdrawalId === undefined ? { kind: 'readWallet' } : { kind, withdrawalId }
      }
    }
  }

  /** Mostly a record that is still open, as far as the clients know. */
  #target(records: ReadonlyMap<string, bigint>, random: Random, open: readonly string[]): string | undefined {
    if (records.size === 0) return undefined
    const latest = new Map<string, string>()
    for (const { call, answer } of this.history) {
      const id = 'depositId' in call ? call.depositId : 'withdrawalId' in call ? call.withdrawalId : undefined
      if (id !== undefined && (answer?.kind === 'record' || answer?.kind === 'refused')) {
        latest.set(id, answer.status ?? '')
      }
    }
    const ids = [...records.keys()]
    const stillOpen = ids.filter((id) => !latest.has(id) || open.includes(latest.get(id) ?? ''))
    return random.pick(stillOpen.length === 0 || random.oneIn(8) ? ids : stillOpen)
  }

  #begin(client: string, call: Call): Recorded {
    const operation: Recorded = {
      client,
      call,
      calledAt: performance.now(),
      returnedAt: Number.POSITIVE_INFINITY,
      answer: undefined,
      attempts: 0,
      request: this.#requestOf(call),
      bytes: undefined,
    }
    this.history.push(operation)
    return operation
  }

  #finish(operation: Recorded, { reply, attempts }: Asked): void {
    operation.attempts += attempts
    if (reply === undefined) return
    const answer = answerOf(operation.call, reply, this.dailyLimit !== undefined)
    if (answer === undefined) this.#unexpected(operation.request.path, reply)
    else {
      operation.answer = answer
      operation.bytes = reply.bytes
      operation.returnedAt = performance.now()
    }
  }

  /** As a client does that lost patience: the second request overtakes the first, and both get one answer. */
  async #askTwice(operation: Recorded, random: Random): Promise<void> {
    const twin = random.stream(`twin ${this.history.length}`)
    const both = [this.#ask(operation.request, random), this.#ask(operation.request, twin)]
    this.#finish(operation, await Promise.race(both))
    const [one, other] = await Promise.all(both)
    operation.attempts = Math.max(operation.attempts, 2)
    if (one?.reply === undefined || other?.reply === undefined) return
    if (one.reply.status !== other.reply.status || !one.reply.bytes.equals(other.reply.bytes)) {
      this.problems.push(`${operation.request.path}: one key, two answers: ${one.reply.bytes} and ${other.reply.bytes}`)
    }
  }

  async #send(request: Request, random: Random): Promise<HttpReply | undefined> {
    return (await this.#ask(request, random)).reply
  }

  /** Until it is answered. A key that is never answered is wedged. */
  async #ask(request: Request, random: Random): Promise<Asked> {
    const asked = await this.client.ask(request, random)
    if (asked.reply === undefined) this.problems.push(`${request.path} is never answered (${asked.attempts} attempts)`)
    return asked
  }

  #unexpected(what: string, reply: HttpReply | undefined): void {
    const said = reply === undefined ? 'no answer' : `${reply.status} ${reply.bytes}`
    this.problems.push(`unexpected answer to ${what}: ${said}`)
  }

  #requestOf(call: Call): Request {
    const ids: Readonly<Record<string, unknown>> = { playerId: this.id, ...call }
    const path = acts[call.kind].path.replace(/\{(\w+)\}/, (_, name) => String(ids[name]))
    const money = { currency: 'BRL', method: 'pix' }
    switch (call.kind) {
      case 'createDeposit':
        return post(path, { ...money, amount: fromMinorUnits(call.amount), externalReference: randomUUID() })
      case 'requestWithdrawal':
        return post(path, { ...money, amount: fromMinorUnits(call.amount), destination: 'ana@example.com' })
      case 'approve':
      case 'reject':
      case 'pay':
        return decision(path, { decision: call.kind })
      default:
        return call.kind.startsWith('read') ? { method: 'GET', path } : post(path)
    }
  }
}

const post = (path: string, body: object = {}): Request => ({
  method: 'POST',
  path,
  body,
  idempotencyKey: randomUUID(),
})
/** Of the sandbox. It takes no key. */
const decision = (path: string, body: object): Request => ({
  method: 'POST',
  path: `/sandbox/${path}/decision`,
  body,
})

/** @returns undefined for an answer that this call can never get */
function answerOf({ kind }: Call, { status, body }: HttpReply, isLimited: boolean): Answer | undefined {
  const code: string | undefined = body?.error?.code
  if (code !== undefined) {
    const isExpected = code === acts[kind].refusal && (kind !== 'createDeposit' || isLimited)
    return isExpected ? { kind: 'refused', code, status: body.error.details?.status as string | undefined } : undefined
  }
  if (status !== 200 && status !== 201) return undefined
  if (kind === 'readWallet') {
    return { kind: 'wallet', available: toMinorUnits(body.available), withdrawable: toMinorUnits(body.withdrawable) }
  }
  if (kind === 'readStatement') {
    if (body.nextCursor !== null) throw new Error('the statement has outgrown its page')
    return { kind: 'statement', items: body.data.map(statementItem).reverse() }
  }
  return { kind: 'record', id: body.id, status: body.status }
}

const statementItem = (item: { amount: string; balanceAfter: string; reference: { id: string } }): StatementItem => ({
  referenceId: item.reference.id,
  amount: toMinorUnits(item.amount),
  balanceAfter: toMinorUnits(item.balanceAfter),
})
