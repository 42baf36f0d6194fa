import { type RequestOptions, Routes } from './routes.ts'
import { Transport, type TransportOptions } from './transport.ts'
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

/**
 * The API, one method per operation. Methods resolve with the record that the operation returns, and reject with
 * BackOfficeError (the API refused; branch on `code`) or ConnectionError (no reply came).
 */
export class BackOfficeClient {
  readonly #routes: Routes

  constructor(options: ClientOptions) {
    this.#routes = new Routes(new Transport(options))
  }

  me(options?: RequestOptions): Promise<Me> {
    return this.#routes.get('/me', {}, options)
  }

  registerPlayer(player: PlayerRequest, options?: RequestOptions): Promise<Player> {
    return this.#routes.command('/players', { body: player }, options)
  }

  /** The player with this externalId, or null. */
  async findPlayer(externalId: string, options?: RequestOptions): Promise<Player | null> {
    const { data } = await this.#routes.get('/players', { query: { externalId } }, options)
    return data[0] ?? null
  }

  getKyc(playerId: string, options?: RequestOptions): Promise<Kyc> {
    return this.#routes.get('/players/{playerId}/kyc', { path: { playerId } }, options)
  }

  submitKyc(
    playerId: string,
    submission: KycSubmissionRequest,
    options?: RequestOptions,
  ): Promise<KycSubmissionReceipt> {
    return this.#routes.command(
      '/players/{playerId}/kyc/submissions',
      { path: { playerId }, body: submission },
      options,
    )
  }

  getWallet(playerId: string, options?: RequestOptions): Promise<Wallet> {
    return this.#routes.get('/players/{playerId}/wallet', { path: { playerId } }, options)
  }

  /** One page of the ledger, most recent first. */
  listTransactions(
    playerId: string,
    {
      limit,
      cursor,
      ...options
    }: RequestOptions & { readonly limit?: number | undefined; readonly cursor?: string | undefined } = {},
  ): Promise<LedgerPage> {
    return this.#routes.get(
      '/players/{playerId}/transactions',
      { path: { playerId }, query: { limit, cursor } },
      options,
    )
  }

  /** The whole ledger, most recent first, fetched page by page as it is consumed. */
  async *transactions(
    playerId: string,
    options: RequestOptions & { readonly pageSize?: number } = {},
  ): AsyncGenerator<LedgerItem, void> {
    const { pageSize = 200, ...rest } = options
    let cursor: string | undefined
    do {
      const page = await this.listTransactions(playerId, { ...rest, limit: pageSize, cursor })
      yield* page.data
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
  }

  createDeposit(playerId: string, deposit: DepositRequest, options?: RequestOptions): Promise<Deposit> {
    return this.#routes.command('/players/{playerId}/deposits', { path: { playerId }, body: deposit }, options)
  }

  confirmDeposit(depositId: string, options?: RequestOptions): Promise<Deposit> {
    return this.#routes.command('/deposits/{depositId}/confirm', { path: { depositId }, body: {} }, options)
  }

  failDeposit(
    depositId: string,
    { reason, ...options }: RequestOptions & { readonly reason?: string } = {},
  ): Promise<Deposit> {
    return this.#routes.command(
      '/deposits/{depositId}/fail',
      { path: { depositId }, body: reason === undefined ? {} : { reason } },
      options,
    )
  }

  async listGames(options?: RequestOptions): Promise<Game[]> {
    return (await this.#routes.get('/games', {}, options)).data
  }

  /** Not repeated after a lost reply, because it has no Idempotency-Key. Open another session instead. */
  openGameSession(playerId: string, gameId: string, options?: RequestOptions): Promise<GameSession> {
    return this.#routes.post('/players/{playerId}/game-sessions', { path: { playerId }, body: { gameId } }, options)
  }

  requestWithdrawal(playerId: string, withdrawal: WithdrawalRequest, options?: RequestOptions): Promise<Withdrawal> {
    return this.#routes.command('/players/{playerId}/withdrawals', { path: { playerId }, body: withdrawal }, options)
  }

  getWithdrawal(withdrawalId: string, options?: RequestOptions): Promise<Withdrawal> {
    return this.#routes.get('/withdrawals/{withdrawalId}', { path: { withdrawalId } }, options)
  }

  cancelWithdrawal(withdrawalId: string, options?: RequestOptions): Promise<Withdrawal> {
    return this.#routes.command('/withdrawals/{withdrawalId}/cancel', { path: { withdrawalId }, body: {} }, options)
  }

  testWebhook(options?: RequestOptions): Promise<WebhookTestResult> {
    return this.#routes.post('/webhooks/test', { body: {} }, options)
  }

  /** Sandbox only. */
  decideKyc(playerId: string, status: KycDecision, options?: RequestOptions): Promise<Kyc> {
    return this.#routes.post(
      '/sandbox/players/{playerId}/kyc/decision',
      { path: { playerId }, body: { status } },
      options,
    )
  }

  /** Sandbox only. */
  decideWithdrawal(withdrawalId: string, decision: WithdrawalDecision, options?: RequestOptions): Promise<Withdrawal> {
    return this.#routes.post(
      '/sandbox/withdrawals/{withdrawalId}/decision',
      { path: { withdrawalId }, body: { decision } },
      options,
    )
  }
}
