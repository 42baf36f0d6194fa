import { Methods } from './methods.ts'
import { type ApiCall, mapCall, type RequestOptions, Routes } from './routes.ts'
import { Transport, type TransportOptions } from './transport.ts'
import type { GameSession, Kyc, KycDecision, LedgerItem, Me, Player, Withdrawal, WithdrawalDecision } from './types.ts'

export type ClientOptions = TransportOptions

export interface DecisionOptions extends RequestOptions {
  /** Why, in words for people. */
  readonly reason?: string | undefined
}

/** A reason that is not given is not sent either. */
const reasonField = ({ reason }: DecisionOptions): { reason?: string } => (reason === undefined ? {} : { reason })

/**
 * The API, one method per operation. Methods resolve with the record that the operation returns, and reject with
 * BackOfficeError (the API refused; branch on `code`) or ConnectionError (the outcome is unknown). `withResponse()` of
 * what a method returns resolves with the record, the request id, and whether the reply is a stored one.
 */
export class BackOfficeClient extends Methods {
  constructor(options: ClientOptions) {
    super(new Routes(new Transport(options)))
  }

  me(options?: RequestOptions): ApiCall<Me> {
    return this.routes.get('/me', {}, options)
  }

  /** The player with this externalId, or null. */
  findPlayer(externalId: string, options?: RequestOptions): ApiCall<Player | null> {
    return mapCall(
      this.routes.get<{ data: Player[] }>('/players', { query: { externalId } }, options),
      ({ data }) => data[0] ?? null,
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

  /** Not repeated after a lost reply, because it has no Idempotency-Key. Open another session instead. */
  openGameSession(playerId: string, gameId: string, options?: RequestOptions): ApiCall<GameSession> {
    return this.routes.post('/players/{playerId}/game-sessions', { path: { playerId }, body: { gameId } }, options)
  }

  /** Sandbox only. The reason is shown with the player's KYC. */
  decideKyc(playerId: string, status: KycDecision, { reason, ...options }: DecisionOptions = {}): ApiCall<Kyc> {
    return this.routes.post(
      '/sandbox/players/{playerId}/kyc/decision',
      { path: { playerId }, body: { status, ...reasonField({ reason }) } },
      options,
    )
  }

  /** Sandbox only. The reason is shown with the withdrawal. */
  decideWithdrawal(
    withdrawalId: string,
    decision: WithdrawalDecision,
    { reason, ...options }: DecisionOptions = {},
  ): ApiCall<Withdrawal> {
    return this.routes.post(
      '/sandbox/withdrawals/{withdrawalId}/decision',
      { path: { withdrawalId }, body: { decision, ...reasonField({ reason }) } },
      options,
    )
  }
}
