import { randomUUID } from 'node:crypto'
import { type Request, Transport, type TransportOptions } from './transport.ts'
import type {
  Deposit,
  DepositRequest,
  Game,
  GameSession,
  Kyc,
  KycDecision,
  KycSubmissionReceipt,
  KycSubmissionRequest,
  LedgerItem,
  LedgerPage,
  Me,
  Player,
  PlayerRequest,
  Wallet,
  WebhookTestResult,
  Withdrawal,
  WithdrawalDecision,
  WithdrawalRequest,
} from './types.ts'

export type ClientOptions = TransportOptions

export interface RequestOptions {
  /**
   * Names the intent (this deposit, this confirmation). Without one the client makes a random key, which covers its own
   * retries only: to survive a crash of your process, choose the key yourself and store it before you call.
   */
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

/**
 * The API, one method per operation. Methods resolve with the record that the operation answers and reject with
 * BackOfficeError (the API refused; branch on `code`) or ConnectionError (no answer).
 */
export class BackOfficeClient {
  readonly #transport: Transport

  constructor(options: ClientOptions) {
    this.#transport = new Transport(options)
  }

  me(options?: RequestOptions): Promise<Me> {
    return this.#get('/me', options)
  }

  registerPlayer(player: PlayerRequest, options?: RequestOptions): Promise<Player> {
    return this.#command('/players', player, options)
  }

  /** The player with this externalId, or null. */
  async findPlayer(externalId: string, options?: RequestOptions): Promise<Player | null> {
    const { data } = await this.#get<{ data: Player[] }>(
      `/players?externalId=${encodeURIComponent(externalId)}`,
      options,
    )
    return data[0] ?? null
  }

  getKyc(playerId: string, options?: RequestOptions): Promise<Kyc> {
    return this.#get(`/players/${encodeURIComponent(playerId)}/kyc`, options)
  }

  submitKyc(
    playerId: string,
    submission: KycSubmissionRequest,
    options?: RequestOptions,
  ): Promise<KycSubmissionReceipt> {
    return this.#command(`/players/${encodeURIComponent(playerId)}/kyc/submissions`, submission, options)
  }

  getWallet(playerId: string, options?: RequestOptions): Promise<Wallet> {
    return this.#get(`/players/${encodeURIComponent(playerId)}/wallet`, options)
  }

  /** One page of the ledger, most recent first. */
  listTransactions(
    playerId: string,
    { limit, cursor, ...options }: RequestOptions & { readonly limit?: number; readonly cursor?: string } = {},
  ): Promise<LedgerPage> {
    const query = new URLSearchParams()
    if (limit !== undefined) query.set('limit', String(limit))
    if (cursor !== undefined) query.set('cursor', cursor)
    const suffix = query.size > 0 ? `?${query}` : ''
    return this.#get(`/players/${encodeURIComponent(playerId)}/transactions${suffix}`, options)
  }

  /** The whole ledger, most recent first, fetched page by page as it is consumed. */
  async *transactions(
    playerId: string,
    options: RequestOptions & { readonly pageSize?: number } = {},
  ): AsyncGenerator<LedgerItem, void> {
    const { pageSize = 200, ...rest } = options
    let cursor: string | undefined
    do {
      const page = await this.listTransactions(playerId, {
        ...rest,
        limit: pageSize,
        ...(cursor === undefined ? {} : { cursor }),
      })
      yield* page.data
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
  }

  createDeposit(playerId: string, deposit: DepositRequest, options?: RequestOptions): Promise<Deposit> {
    return this.#command(`/players/${encodeURIComponent(playerId)}/deposits`, deposit, options)
  }

  confirmDeposit(depositId: string, options?: RequestOptions): Promise<Deposit> {
    return this.#command(`/deposits/${encodeURIComponent(depositId)}/confirm`, {}, options)
  }

  failDeposit(
    depositId: string,
    { reason, ...options }: RequestOptions & { readonly reason?: string } = {},
  ): Promise<Deposit> {
    return this.#command(
      `/deposits/${encodeURIComponent(depositId)}/fail`,
      reason === undefined ? {} : { reason },
      options,
    )
  }

  async listGames(options?: RequestOptions): Promise<Game[]> {
    return (await this.#get<{ data: Game[] }>('/games', options)).data
  }

  /** Not repeated after a lost answer: it has no Idempotency-Key. Open another session instead. */
  openGameSession(playerId: string, gameId: string, options?: RequestOptions): Promise<GameSession> {
    return this.#post(`/players/${encodeURIComponent(playerId)}/game-sessions`, { gameId }, options)
  }

  requestWithdrawal(playerId: string, withdrawal: WithdrawalRequest, options?: RequestOptions): Promise<Withdrawal> {
    return this.#command(`/players/${encodeURIComponent(playerId)}/withdrawals`, withdrawal, options)
  }

  getWithdrawal(withdrawalId: string, options?: RequestOptions): Promise<Withdrawal> {
    return this.#get(`/withdrawals/${encodeURIComponent(withdrawalId)}`, options)
  }

  cancelWithdrawal(withdrawalId: string, options?: RequestOptions): Promise<Withdrawal> {
    return this.#command(`/withdrawals/${encodeURIComponent(withdrawalId)}/cancel`, {}, options)
  }

  testWebhook(options?: RequestOptions): Promise<WebhookTestResult> {
    return this.#post('/webhooks/test', {}, options)
  }

  /** Sandbox only. */
  decideKyc(playerId: string, status: KycDecision, options?: RequestOptions): Promise<Kyc> {
    return this.#post(`/sandbox/players/${encodeURIComponent(playerId)}/kyc/decision`, { status }, options)
  }

  /** Sandbox only. */
  decideWithdrawal(withdrawalId: string, decision: WithdrawalDecision, options?: RequestOptions): Promise<Withdrawal> {
    return this.#post(`/sandbox/withdrawals/${encodeURIComponent(withdrawalId)}/decision`, { decision }, options)
  }

  #get<T>(route: string, options: RequestOptions | undefined): Promise<T> {
    return this.#send({ method: 'GET', route, signal: options?.signal })
  }

  #post<T>(route: string, body: unknown, options: RequestOptions | undefined): Promise<T> {
    return this.#send({ method: 'POST', route, body, signal: options?.signal })
  }

  #command<T>(route: string, body: unknown, options: RequestOptions | undefined): Promise<T> {
    const idempotencyKey = options?.idempotencyKey ?? randomUUID()
    return this.#send({ method: 'POST', route, body, idempotencyKey, signal: options?.signal })
  }

  /** The reply is the API's, of a released shape that only grows; the types above say which. */
  async #send<T>(request: Request): Promise<T> {
    return (await this.#transport.send(request)) as T
  }
}
