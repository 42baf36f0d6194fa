import { type ApiCall, mapCall } from './call.ts'
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

export interface DecisionOptions extends RequestOptions {
  /** Why, in words for people. */
  readonly reason?: string | undefined
}

/** A reason that is not given is not sent either. */
const given = ({ reason }: DecisionOptions): { reason?: string } => (reason === undefined ? {} : { reason })

/**
 * The API, one method per operation. Methods resolve with the record that the operation returns, and reject with
 * BackOfficeError (the API refused; branch on `code`) or ConnectionError (the outcome is unknown). `withResponse()` of
 * what a method returns resolves with the record, the request id, and whether the reply is a stored one.
 */
export class BackOfficeClient {
  readonly #routes: Routes

  constructor(options: ClientOptions) {
    this.#routes = new Routes(new Transport(options))
  }

  me(options?: RequestOptions): ApiCall<Me> {
    return this.#routes.get('/me', {}, options)
  }

  registerPlayer(player: PlayerRequest, options?: RequestOptions): ApiCall<Player> {
    return this.#routes.command('/players', { body: player }, options)
  }

  /** The player with this externalId, or null. */
  findPlayer(externalId: string, options?: RequestOptions): ApiCall<Player | null> {
    return mapCall(this.#routes.get('/players', { query: { externalId } }, options), ({ data }) => data[0] ?? null)
  }

  getKyc(playerId: string, options?: RequestOptions): ApiCall<Kyc> {
    return this.#routes.get('/players/{playerId}/kyc', { path: { playerId } }, options)
  }

  submitKyc(
    playerId: string,
    submission: KycSubmissionRequest,
    options?: RequestOptions,
  ): ApiCall<KycSubmissionReceipt> {
    return this.#routes.command(
      '/players/{playerId}/kyc/submissions',
      { path: { playerId }, body: submission },
      options,
    )
  }

  getWallet(playerId: string, options?: RequestOptions): ApiCall<Wallet> {
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
  ): ApiCall<LedgerPage> {
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

  createDeposit(playerId: string, deposit: DepositRequest, options?: RequestOptions): ApiCall<Deposit> {
    return this.#routes.command('/players/{playerId}/deposits', { path: { playerId }, body: deposit }, options)
  }

  confirmDeposit(depositId: string, options?: RequestOptions): ApiCall<Deposit> {
    return this.#routes.command('/deposits/{depositId}/confirm', { path: { depositId }, body: {} }, options)
  }

  failDeposit(depositId: string, { reason, ...options }: DecisionOptions = {}): ApiCall<Deposit> {
    return this.#routes.command('/deposits/{depositId}/fail', { path: { depositId }, body: given({ reason }) }, options)
  }

  listGames(options?: RequestOptions): ApiCall<Game[]> {
    return mapCall(this.#routes.get('/games', {}, options), ({ data }) => data)
  }

  /** Not repeated after a lost reply, because it has no Idempotency-Key. Open another session instead. */
  openGameSession(playerId: string, gameId: string, options?: RequestOptions): ApiCall<GameSession> {
    return this.#routes.post('/players/{playerId}/game-sessions', { path: { playerId }, body: { gameId } }, options)
  }

  requestWithdrawal(playerId: string, withdrawal: WithdrawalRequest, options?: RequestOptions): ApiCall<Withdrawal> {
    return this.#routes.command('/players/{playerId}/withdrawals', { path: { playerId }, body: withdrawal }, options)
  }

  getWithdrawal(withdrawalId: string, options?: RequestOptions): ApiCall<Withdrawal> {
    return this.#routes.get('/withdrawals/{withdrawalId}', { path: { withdrawalId } }, options)
  }

  cancelWithdrawal(withdrawalId: string, options?: RequestOptions): ApiCall<Withdrawal> {
    return this.#routes.command('/withdrawals/{withdrawalId}/cancel', { path: { withdrawalId }, body: {} }, options)
  }

  testWebhook(options?: RequestOptions): ApiCall<WebhookTestResult> {
    return this.#routes.post('/webhooks/test', { body: {} }, options)
  }

  /** Sandbox only. The reason is shown with the player's KYC. */
  decideKyc(playerId: string, status: KycDecision, { reason, ...options }: DecisionOptions = {}): ApiCall<Kyc> {
    return this.#routes.post(
      '/sandbox/players/{playerId}/kyc/decision',
      { path: { playerId }, body: { status, ...given({ reason }) } },
      options,
    )
  }

  /** Sandbox only. The reason is shown with the withdrawal. */
  decideWithdrawal(
    withdrawalId: string,
    decision: WithdrawalDecision,
    { reason, ...options }: DecisionOptions = {},
  ): ApiCall<Withdrawal> {
    return this.#routes.post(
      '/sandbox/withdrawals/{withdrawalId}/decision',
      { path: { withdrawalId }, body: { decision, ...given({ reason }) } },
      options,
    )
  }
}
