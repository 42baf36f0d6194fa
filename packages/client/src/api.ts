// Generated from the operation table by "npm run generate"; a test fails when it is stale.

export const apiVersion = '1.1.0'

export interface paths {
  '/me': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Who am I
     * @description The operator, brand and environment of the credential. The quickest check of a signature.
     */
    get: operations['getMe']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/players': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Find a player by externalId
     * @description The list is empty when the brand has no such player.
     */
    get: operations['findPlayers']
    put?: never
    /**
     * Register a player
     * @description Registers a player and opens the wallet. `externalId` is unique per brand.
     */
    post: operations['registerPlayer']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/players/{playerId}/kyc': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Read the KYC status
     * @description Read the KYC status.
     */
    get: operations['getKyc']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/players/{playerId}/kyc/submissions': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Register a KYC document submission
     * @description The service keeps your reference, never the file. `kycStatus` becomes `em_analise`; the team decides.
     */
    post: operations['submitKyc']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/players/{playerId}/deposits': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Create a deposit
     * @description Records a pending deposit. The payment itself is yours to collect; the wallet is credited when you confirm. `externalReference` is unique: repeating it answers 409 with the id of the existing deposit in `details.depositId`.
     */
    post: operations['createDeposit']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/deposits/{depositId}/confirm': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Confirm a deposit
     * @description Credits the wallet, once. Only a pending deposit can be confirmed; a confirmed one cannot be undone here.
     */
    post: operations['confirmDeposit']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/deposits/{depositId}/fail': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Mark a deposit as failed
     * @description Only a pending deposit can fail; nothing is credited.
     */
    post: operations['failDeposit']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/players/{playerId}/wallet': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Read a player's wallet
     * @description Read a player's wallet.
     */
    get: operations['getWallet']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/players/{playerId}/transactions': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * List a player's ledger
     * @description Most recent first. Pass the previous `nextCursor` as `cursor` for the next page; null means no more pages.
     */
    get: operations['listTransactions']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/games': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * List the game catalogue
     * @description List the game catalogue.
     */
    get: operations['listGames']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/players/{playerId}/game-sessions': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Open a game session
     * @description Answers a `gameUrl` for the player's browser. Needs an approved KYC, status `ativo`, and no self-exclusion or exceeded daily limit. In the sandbox the session is a demonstration with a fictitious balance.
     */
    post: operations['openGameSession']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/players/{playerId}/withdrawals': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Request a withdrawal
     * @description Needs an approved KYC. The request enters the team's review queue and reduces `withdrawable`; the amount is debited only when it is paid.
     */
    post: operations['requestWithdrawal']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/withdrawals/{withdrawalId}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Read a withdrawal
     * @description Read a withdrawal.
     */
    get: operations['getWithdrawal']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/withdrawals/{withdrawalId}/cancel': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Cancel a withdrawal
     * @description Only while it is under review.
     */
    post: operations['cancelWithdrawal']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/webhooks/test': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Send a test delivery
     * @description Makes one attempt at once, to the configured URL, and answers what the receiver said.
     */
    post: operations['testWebhook']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/sandbox/withdrawals/{withdrawalId}/decision': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Simulate the team's withdrawal decision
     * @description Simulate the team's withdrawal decision.
     */
    post: operations['decideWithdrawalInSandbox']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/sandbox/players/{playerId}/kyc/decision': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Simulate the team's KYC decision
     * @description Simulate the team's KYC decision.
     */
    post: operations['decideKycInSandbox']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/openapi.json': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * OpenAPI document
     * @description The OpenAPI 3.1 document of this version.
     */
    get: operations['getOpenApi']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/changelog': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Change history
     * @description The history of the API, as Markdown (`text/markdown`).
     */
    get: operations['getChangelog']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/postman.json': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Postman collection
     * @description A Postman v2.1 collection with all operations and a pre-request signing script.
     */
    get: operations['getPostmanCollection']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/signing-snippets.json': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Signing snippets
     * @description Code to sign requests and to verify webhooks in several languages.
     */
    get: operations['getSigningSnippets']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/test-vectors.json': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Signature test vectors
     * @description Inputs and expected signatures, for requests and for webhooks.
     */
    get: operations['getTestVectors']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/docs': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Documentation page
     * @description The documentation as an HTML page (`text/html`).
     */
    get: operations['getDocs']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
}
export interface webhooks {
  'kyc.status_changed': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * The KYC status of a player changed
     * @description Sent when the team, or the sandbox decision route, changes the KYC status of a player.
     */
    post: operations['webhook_kyc_status_changed']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  'deposit.confirmed': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * A deposit was confirmed
     * @description Sent after the wallet was credited: who hears it and reads the wallet sees the money.
     */
    post: operations['webhook_deposit_confirmed']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  'withdrawal.status_changed': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * A withdrawal changed status
     * @description Sent for every change of status, cancellation included; the creation itself sends nothing.
     */
    post: operations['webhook_withdrawal_status_changed']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  'webhook.test': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * A test delivery
     * @description Sent by POST /webhooks/test to validate the URL and the signature check.
     */
    post: operations['webhook_webhook_test']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
}
export interface components {
  schemas: {
    Error: {
      error: {
        /** @description Stable. */
        code: string
        /** @description For people; may change. */
        message: string
        /** @description The same as X-Request-Id. */
        requestId: string
        /** @description Depends on the code. VALIDATION_ERROR: `in` and `issues` [{path, message}]. */
        details?: {
          [key: string]: unknown
        }
      } & {
        [key: string]: unknown
      }
    } & {
      [key: string]: unknown
    }
    Me: {
      operator: {
        /** @description Opaque identifier. */
        id: string
        name: string
        /** @enum {string} */
        environment: 'sandbox' | 'production'
      }
      brand: {
        /** @description Opaque identifier. */
        id: string
        name: string
        /** @description ISO 4217 currency code. */
        currency: string
        isSandbox: boolean
      }
      apiVersion: string
    }
    PlayerRequest: {
      /** @description The operator's own identifier; unique per brand. */
      externalId: string
      name: string
      /** Format: email */
      email: string
      /** @description With or without punctuation. */
      cpf: string
      /** @description Optional +, then 10 to 15 digits. */
      phone?: string
      /**
       * Format: date
       * @description YYYY-MM-DD; the player must be over 18.
       */
      birthDate: string
    }
    Player: {
      /** @description Opaque identifier. */
      id: string
      externalId: string | null
      name: string
      email: string
      cpf: string
      phone: string | null
      /**
       * Format: date
       * @description YYYY-MM-DD.
       */
      birthDate: string | null
      /**
       * @description Account status of the player.
       * @enum {string}
       */
      status: 'ativo' | 'suspenso' | 'bloqueado' | 'autoexcluido' | 'encerrado' | 'restrito'
      /**
       * @description Status of the identity check (KYC).
       * @enum {string}
       */
      kycStatus:
        | 'nao_iniciado'
        | 'pendente'
        | 'em_analise'
        | 'documento_solicitado'
        | 'aprovado'
        | 'reprovado'
        | 'expirado'
      /** @description ISO 4217 currency code. */
      currency: string
      /**
       * Format: date-time
       * @description ISO 8601 in UTC with milliseconds.
       */
      createdAt: string
    }
    Kyc: {
      /** @description Opaque identifier. */
      playerId: string
      /**
       * @description Status of the identity check (KYC).
       * @enum {string}
       */
      kycStatus:
        | 'nao_iniciado'
        | 'pendente'
        | 'em_analise'
        | 'documento_solicitado'
        | 'aprovado'
        | 'reprovado'
        | 'expirado'
      /** @description Most recent first: at most the last 100, and fewer when their references are very long (64 KiB). */
      submissions: components['schemas']['KycSubmission'][]
      /**
       * Format: date-time
       * @description ISO 8601 in UTC with milliseconds.
       */
      decidedAt: string | null
      reason: string | null
    }
    KycSubmission: {
      /** @description Opaque identifier. */
      id: string
      documentType: string
      reference: string
      /**
       * Format: date-time
       * @description ISO 8601 in UTC with milliseconds.
       */
      submittedAt: string
    }
    KycSubmissionRequest: {
      /** @description Kind of document, a label of your own. */
      documentType: string
      /** @description Your reference to the stored document file. */
      reference: string
    }
    KycSubmissionReceipt: {
      submission: components['schemas']['KycSubmission']
      /**
       * @description Status of the identity check (KYC).
       * @enum {string}
       */
      kycStatus:
        | 'nao_iniciado'
        | 'pendente'
        | 'em_analise'
        | 'documento_solicitado'
        | 'aprovado'
        | 'reprovado'
        | 'expirado'
    }
    DepositRequest: {
      /** @description Positive decimal string with at most 2 decimal places. */
      amount: string
      /** @description ISO 4217 currency code. */
      currency: string
      /** @description Payment-method label chosen by the operator. */
      method: string
      /** @description Your payment reference; unique. */
      externalReference: string
    }
    Deposit: {
      /** @description Opaque identifier. */
      id: string
      /** @description Opaque identifier. */
      playerId: string
      /** @description Decimal string with exactly 2 decimal places. */
      amount: string
      /** @description ISO 4217 currency code. */
      currency: string
      method: string
      externalReference: string
      /** @enum {string} */
      status: 'pending' | 'confirmed' | 'failed'
      failureReason: string | null
      /**
       * Format: date-time
       * @description ISO 8601 in UTC with milliseconds.
       */
      createdAt: string
      /**
       * Format: date-time
       * @description ISO 8601 in UTC with milliseconds.
       */
      confirmedAt: string | null
      /**
       * Format: date-time
       * @description ISO 8601 in UTC with milliseconds.
       */
      failedAt: string | null
    }
    Wallet: {
      /** @description Opaque identifier. */
      playerId: string
      /** @description ISO 4217 currency code. */
      currency: string
      /** @description The real balance. */
      available: string
      /** @description `available` minus open withdrawals. */
      withdrawable: string
      /**
       * Format: date-time
       * @description ISO 8601 in UTC with milliseconds.
       */
      updatedAt: string
    }
    LedgerPage: {
      data: components['schemas']['LedgerItem'][]
      nextCursor: string | null
    }
    LedgerItem: {
      /** @description Opaque identifier. */
      id: string
      /** @enum {string} */
      type: 'DEPOSIT' | 'WITHDRAWAL' | 'ADJUSTMENT' | 'REVERSAL'
      /** @description Signed: the items sum to `available`. */
      amount: string
      /** @description ISO 4217 currency code. */
      currency: string
      /** @description Decimal string with exactly 2 decimal places. */
      balanceAfter: string
      reference: {
        /** @description What caused the entry: deposit, withdrawal, adjustment or reversal. */
        type: string
        id: string
      }
      /**
       * Format: date-time
       * @description ISO 8601 in UTC with milliseconds.
       */
      createdAt: string
    }
    Game: {
      /** @description Opaque identifier. */
      id: string
      name: string
      provider: string
      category: string
      thumbnailUrl: string
      /** @description Return to player in percent, as a decimal string. */
      rtp: string
      /** @description Whether the game can be opened as a demonstration. */
      demo: boolean
    }
    GameSessionRequest: {
      gameId: string
    }
    GameSession: {
      /** @description Opaque identifier. */
      id: string
      /** @description Opaque identifier. */
      playerId: string
      /** @description Opaque identifier. */
      gameId: string
      /** @enum {string} */
      mode: 'demo' | 'real'
      /** @description To be opened in the player's browser, for example in an iframe. */
      gameUrl: string
      /**
       * Format: date-time
       * @description ISO 8601 in UTC with milliseconds.
       */
      expiresAt: string
    }
    WithdrawalRequest: {
      /** @description Positive decimal string with at most 2 decimal places. */
      amount: string
      /** @description ISO 4217 currency code. */
      currency: string
      /** @description Payment-method label chosen by the operator. */
      method: string
      /** @description Payout destination. */
      destination: string
    }
    Withdrawal: {
      /** @description Opaque identifier. */
      id: string
      /** @description Opaque identifier. */
      playerId: string
      /** @description Decimal string with exactly 2 decimal places. */
      amount: string
      /** @description ISO 4217 currency code. */
      currency: string
      method: string
      destination: string
      /** @enum {string} */
      status: 'under_review' | 'approved' | 'paid' | 'rejected' | 'cancelled' | 'failed'
      reason: string | null
      /**
       * Format: date-time
       * @description ISO 8601 in UTC with milliseconds.
       */
      createdAt: string
      /**
       * Format: date-time
       * @description ISO 8601 in UTC with milliseconds.
       */
      updatedAt: string
      /**
       * Format: date-time
       * @description ISO 8601 in UTC with milliseconds.
       */
      reviewedAt: string | null
      /**
       * Format: date-time
       * @description ISO 8601 in UTC with milliseconds.
       */
      paidAt: string | null
    }
    WebhookTestResult: {
      /** @description Opaque identifier. */
      eventId: string
      /** @description Whether the receiver answered 2xx. */
      delivered: boolean
      responseStatus: number | null
      durationMs: number
      /** @description What went wrong, in plain words. */
      error: string | null
    }
    WithdrawalDecisionRequest: {
      /** @enum {string} */
      decision: 'approve' | 'reject' | 'pay'
      reason?: string
    }
    KycDecisionRequest: {
      /**
       * @description The decided status.
       * @enum {string}
       */
      status: 'pendente' | 'em_analise' | 'documento_solicitado' | 'aprovado' | 'reprovado' | 'expirado'
      reason?: string
    }
    KycChange: {
      /** @description Opaque identifier. */
      playerId: string
      /**
       * @description Status of the identity check (KYC).
       * @enum {string}
       */
      kycStatus:
        | 'nao_iniciado'
        | 'pendente'
        | 'em_analise'
        | 'documento_solicitado'
        | 'aprovado'
        | 'reprovado'
        | 'expirado'
      /** @description The latest one, if there is any. `GET /players/{playerId}/kyc` has those before it. */
      submissions: components['schemas']['KycSubmission'][]
      /**
       * Format: date-time
       * @description ISO 8601 in UTC with milliseconds.
       */
      decidedAt: string | null
      reason: string | null
    }
    KycStatusChangedEvent: {
      /** @description Opaque identifier. */
      id: string
      /** @constant */
      type: 'kyc.status_changed'
      apiVersion: string
      /** @enum {string} */
      environment: 'sandbox' | 'production'
      /** @description Opaque identifier. */
      operatorId: string
      /** @description Opaque identifier. */
      brandId: string
      /**
       * Format: date-time
       * @description ISO 8601 in UTC with milliseconds.
       */
      createdAt: string
      data: {
        /** @description Opaque identifier. */
        playerId: string
        /**
         * @description Status of the identity check (KYC).
         * @enum {string}
         */
        kycStatus:
          | 'nao_iniciado'
          | 'pendente'
          | 'em_analise'
          | 'documento_solicitado'
          | 'aprovado'
          | 'reprovado'
          | 'expirado'
        /** @description The latest one, if there is any. `GET /players/{playerId}/kyc` has those before it. */
        submissions: components['schemas']['KycSubmission'][]
        /**
         * Format: date-time
         * @description ISO 8601 in UTC with milliseconds.
         */
        decidedAt: string | null
        reason: string | null
        /**
         * @description Status of the identity check (KYC).
         * @enum {string}
         */
        previousStatus:
          | 'nao_iniciado'
          | 'pendente'
          | 'em_analise'
          | 'documento_solicitado'
          | 'aprovado'
          | 'reprovado'
          | 'expirado'
        /** @description Rises per record; drop an event older than one you have. */
        version: number
      }
    }
    DepositConfirmedEvent: {
      /** @description Opaque identifier. */
      id: string
      /** @constant */
      type: 'deposit.confirmed'
      apiVersion: string
      /** @enum {string} */
      environment: 'sandbox' | 'production'
      /** @description Opaque identifier. */
      operatorId: string
      /** @description Opaque identifier. */
      brandId: string
      /**
       * Format: date-time
       * @description ISO 8601 in UTC with milliseconds.
       */
      createdAt: string
      data: {
        /** @description Opaque identifier. */
        id: string
        /** @description Opaque identifier. */
        playerId: string
        /** @description Decimal string with exactly 2 decimal places. */
        amount: string
        /** @description ISO 4217 currency code. */
        currency: string
        method: string
        externalReference: string
        /** @enum {string} */
        status: 'pending' | 'confirmed' | 'failed'
        failureReason: string | null
        /**
         * Format: date-time
         * @description ISO 8601 in UTC with milliseconds.
         */
        createdAt: string
        /**
         * Format: date-time
         * @description ISO 8601 in UTC with milliseconds.
         */
        confirmedAt: string | null
        /**
         * Format: date-time
         * @description ISO 8601 in UTC with milliseconds.
         */
        failedAt: string | null
        /** @enum {string} */
        previousStatus: 'pending' | 'confirmed' | 'failed'
        /** @description Rises per record; drop an event older than one you have. */
        version: number
      }
    }
    WithdrawalStatusChangedEvent: {
      /** @description Opaque identifier. */
      id: string
      /** @constant */
      type: 'withdrawal.status_changed'
      apiVersion: string
      /** @enum {string} */
      environment: 'sandbox' | 'production'
      /** @description Opaque identifier. */
      operatorId: string
      /** @description Opaque identifier. */
      brandId: string
      /**
       * Format: date-time
       * @description ISO 8601 in UTC with milliseconds.
       */
      createdAt: string
      data: {
        /** @description Opaque identifier. */
        id: string
        /** @description Opaque identifier. */
        playerId: string
        /** @description Decimal string with exactly 2 decimal places. */
        amount: string
        /** @description ISO 4217 currency code. */
        currency: string
        method: string
        destination: string
        /** @enum {string} */
        status: 'under_review' | 'approved' | 'paid' | 'rejected' | 'cancelled' | 'failed'
        reason: string | null
        /**
         * Format: date-time
         * @description ISO 8601 in UTC with milliseconds.
         */
        createdAt: string
        /**
         * Format: date-time
         * @description ISO 8601 in UTC with milliseconds.
         */
        updatedAt: string
        /**
         * Format: date-time
         * @description ISO 8601 in UTC with milliseconds.
         */
        reviewedAt: string | null
        /**
         * Format: date-time
         * @description ISO 8601 in UTC with milliseconds.
         */
        paidAt: string | null
        /** @enum {string} */
        previousStatus: 'under_review' | 'approved' | 'paid' | 'rejected' | 'cancelled' | 'failed'
        /** @description Rises per record; drop an event older than one you have. */
        version: number
      }
    }
    WebhookTestEvent: {
      /** @description Opaque identifier. */
      id: string
      /** @constant */
      type: 'webhook.test'
      apiVersion: string
      /** @enum {string} */
      environment: 'sandbox' | 'production'
      /** @description Opaque identifier. */
      operatorId: string
      /** @description Opaque identifier. */
      brandId: string
      /**
       * Format: date-time
       * @description ISO 8601 in UTC with milliseconds.
       */
      createdAt: string
      data: {
        message: string
      }
    }
    ErrorDetails: {
      /** @description This operation requires the Idempotency-Key header. */
      IDEMPOTENCY_KEY_REQUIRED?: unknown
      /** @description The operator key is missing or unknown. */
      INVALID_CREDENTIALS?: unknown
      /** @description The signature does not match the request. */
      INVALID_SIGNATURE?: {
        canonicalString: string
      }
      /** @description X-Timestamp must be epoch seconds within 5 minutes of the server clock. */
      TIMESTAMP_OUT_OF_RANGE?: {
        serverTime: number
      }
      /** @description The operator is suspended. */
      OPERATOR_SUSPENDED?: unknown
      /** @description The caller's address is not among the operator's permitted addresses. */
      FORBIDDEN_IP?: unknown
      /** @description This operation exists in the sandbox only. */
      SANDBOX_ONLY?: unknown
      /** @description The player needs an approved identity check (KYC) for this operation. */
      KYC_NOT_APPROVED: {
        /** @enum {string} */
        kycStatus:
          | 'nao_iniciado'
          | 'pendente'
          | 'em_analise'
          | 'documento_solicitado'
          | 'aprovado'
          | 'reprovado'
          | 'expirado'
      }
      /** @description The status of the player does not allow this operation. */
      PLAYER_NOT_ACTIVE: {
        /** @enum {string} */
        status: 'ativo' | 'suspenso' | 'bloqueado' | 'autoexcluido' | 'encerrado' | 'restrito'
      }
      /** @description Refused by the player's self-exclusion or daily limit. */
      RG_BLOCKED: {
        /** @enum {string} */
        reason: 'self_exclusion' | 'daily_limit' | 'sandbox_trigger'
      }
      /** @description There is no such route. */
      NOT_FOUND?: unknown
      /** @description There is no such player in this brand. */
      PLAYER_NOT_FOUND?: unknown
      /** @description There is no such deposit in this brand. */
      DEPOSIT_NOT_FOUND?: unknown
      /** @description There is no such withdrawal in this brand. */
      WITHDRAWAL_NOT_FOUND?: unknown
      /** @description There is no such game in the catalogue of this brand. */
      GAME_NOT_FOUND?: unknown
      /** @description The path exists, but not with this method. */
      METHOD_NOT_ALLOWED?: unknown
      /** @description The request did not arrive in time. */
      REQUEST_TIMEOUT?: unknown
      /** @description This Idempotency-Key was used with another method, path or body. */
      IDEMPOTENCY_CONFLICT?: {
        /** @enum {string} */
        signature: 'used'
      }
      /** @description The first request with this Idempotency-Key is still running; wait and retry. */
      IDEMPOTENCY_IN_PROGRESS?: unknown
      /** @description A player with this externalId already exists in the brand. */
      PLAYER_ALREADY_EXISTS: {
        playerId: string
      }
      /** @description The identity check of this player is already approved. */
      KYC_ALREADY_APPROVED?: unknown
      /** @description A deposit with this externalReference already exists. */
      DEPOSIT_ALREADY_EXISTS: {
        depositId: string
      }
      /** @description The deposit is no longer pending. */
      DEPOSIT_NOT_PENDING: {
        depositId: string
        /** @enum {string} */
        status: 'pending' | 'confirmed' | 'failed'
      }
      /** @description The withdrawal is no longer under review. */
      WITHDRAWAL_NOT_CANCELLABLE: {
        withdrawalId: string
        /** @enum {string} */
        status: 'under_review' | 'approved' | 'paid' | 'rejected' | 'cancelled' | 'failed'
      }
      /** @description The status of the withdrawal does not allow this decision. */
      WITHDRAWAL_INVALID_STATE: {
        withdrawalId: string
        /** @enum {string} */
        status: 'under_review' | 'approved' | 'paid' | 'rejected' | 'cancelled' | 'failed'
      }
      /** @description No webhook URL is configured for this environment. */
      WEBHOOK_NOT_CONFIGURED?: unknown
      /** @description The body is larger than 64 KiB. */
      PAYLOAD_TOO_LARGE?: unknown
      /** @description The body must be application/json. */
      UNSUPPORTED_MEDIA_TYPE?: unknown
      /** @description The request is not valid. */
      VALIDATION_ERROR: {
        /** @enum {string} */
        in: 'body' | 'query' | 'path' | 'headers'
        issues: {
          path: string
          message: string
        }[]
      }
      /** @description The currency differs from the currency of the player. */
      CURRENCY_MISMATCH: {
        expected: string
        received: string
      }
      /** @description The withdrawable balance does not cover the amount. */
      INSUFFICIENT_FUNDS?: unknown
      /** @description Too many requests; retry after the seconds in Retry-After. */
      RATE_LIMITED?: unknown
      /** @description The request headers are too large. */
      HEADERS_TOO_LARGE?: unknown
      /** @description Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      INTERNAL_ERROR?: unknown
      /** @description An upstream provider is unavailable. */
      PROVIDER_UNAVAILABLE?: unknown
      /** @description Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      SERVICE_UNAVAILABLE?: unknown
    }
  }
  responses: never
  parameters: {
    /**
     * @description Names this effect for 24 hours. The same key and request answer the stored response with `Idempotent-Replayed: true`; after a 5xx or a time-out retry with the SAME key.
     * @example order-7f3a-attempt-1
     */
    IdempotencyKey: string
  }
  requestBodies: never
  headers: {
    /** @description Names this request in our logs; quote it when you ask for help. */
    'X-Request-Id': string
    /** @description Seconds to wait before the next try. */
    'Retry-After': number
    /** @description `true` when this is the stored response of an earlier request with the same key. */
    'Idempotent-Replayed': 'true'
  }
  pathItems: never
}
export type $defs = Record<string, never>
export interface operations {
  getMe: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Success. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "operator": {
           *         "id": "op_01kaj6a0qkf3d8ry3j8z6c9m1e",
           *         "name": "demo",
           *         "environment": "sandbox"
           *       },
           *       "brand": {
           *         "id": "brd_01kaj6a0qmf8ctbdfmbh5yt2r7",
           *         "name": "demo sandbox",
           *         "currency": "BRL",
           *         "isSandbox": true
           *       },
           *       "apiVersion": "1.1.0"
           *     }
           */
          'application/json': components['schemas']['Me']
        }
      }
      /**
       * @description `INVALID_CREDENTIALS`: The operator key is missing or unknown.
       *
       *     `TIMESTAMP_OUT_OF_RANGE`: X-Timestamp must be epoch seconds within 5 minutes of the server clock.
       *
       *     `INVALID_SIGNATURE`: The signature does not match the request.
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `OPERATOR_SUSPENDED`: The operator is suspended.
       *
       *     `FORBIDDEN_IP`: The caller's address is not among the operator's permitted addresses.
       */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  findPlayers: {
    parameters: {
      query: {
        /**
         * @description The operator's own identifier; unique per brand.
         * @example user-42
         */
        externalId: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Success. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "data": [
           *         {
           *           "id": "ply_01kaj6dfw0e2x8bxmtpcs8nwfe",
           *           "externalId": "user-42",
           *           "name": "Ana Souza",
           *           "email": "ana@example.com",
           *           "cpf": "52998224725",
           *           "phone": "+5511987654321",
           *           "birthDate": "1990-05-17",
           *           "status": "ativo",
           *           "kycStatus": "nao_iniciado",
           *           "currency": "BRL",
           *           "createdAt": "2026-03-02T12:00:00.000Z"
           *         }
           *       ]
           *     }
           */
          'application/json': {
            data: components['schemas']['Player'][]
          }
        }
      }
      /**
       * @description `INVALID_CREDENTIALS`: The operator key is missing or unknown.
       *
       *     `TIMESTAMP_OUT_OF_RANGE`: X-Timestamp must be epoch seconds within 5 minutes of the server clock.
       *
       *     `INVALID_SIGNATURE`: The signature does not match the request.
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `OPERATOR_SUSPENDED`: The operator is suspended.
       *
       *     `FORBIDDEN_IP`: The caller's address is not among the operator's permitted addresses.
       */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  registerPlayer: {
    parameters: {
      query?: never
      header: {
        /**
         * @description Names this effect for 24 hours. The same key and request answer the stored response with `Idempotent-Replayed: true`; after a 5xx or a time-out retry with the SAME key.
         * @example order-7f3a-attempt-1
         */
        'Idempotency-Key': components['parameters']['IdempotencyKey']
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "externalId": "user-42",
         *       "name": "Ana Souza",
         *       "email": "ana@example.com",
         *       "cpf": "529.982.247-25",
         *       "phone": "+5511987654321",
         *       "birthDate": "1990-05-17"
         *     }
         */
        'application/json': components['schemas']['PlayerRequest']
      }
    }
    responses: {
      /** @description Created. */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Idempotent-Replayed': components['headers']['Idempotent-Replayed']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "id": "ply_01kaj6dfw0e2x8bxmtpcs8nwfe",
           *       "externalId": "user-42",
           *       "name": "Ana Souza",
           *       "email": "ana@example.com",
           *       "cpf": "52998224725",
           *       "phone": "+5511987654321",
           *       "birthDate": "1990-05-17",
           *       "status": "ativo",
           *       "kycStatus": "nao_iniciado",
           *       "currency": "BRL",
           *       "createdAt": "2026-03-02T12:00:00.000Z"
           *     }
           */
          'application/json': components['schemas']['Player']
        }
      }
      /** @description `IDEMPOTENCY_KEY_REQUIRED`: This operation requires the Idempotency-Key header. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `INVALID_CREDENTIALS`: The operator key is missing or unknown.
       *
       *     `TIMESTAMP_OUT_OF_RANGE`: X-Timestamp must be epoch seconds within 5 minutes of the server clock.
       *
       *     `INVALID_SIGNATURE`: The signature does not match the request.
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `OPERATOR_SUSPENDED`: The operator is suspended.
       *
       *     `FORBIDDEN_IP`: The caller's address is not among the operator's permitted addresses.
       */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `IDEMPOTENCY_CONFLICT`: This Idempotency-Key was used with another method, path or body.
       *
       *     `IDEMPOTENCY_IN_PROGRESS`: The first request with this Idempotency-Key is still running; wait and retry.
       *
       *     `PLAYER_ALREADY_EXISTS`: A player with this externalId already exists in the brand.
       */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getKyc: {
    parameters: {
      query?: never
      header?: never
      path: {
        /**
         * @description Opaque identifier.
         * @example ply_01kaj6dfw0e2x8bxmtpcs8nwfe
         */
        playerId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Success. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "playerId": "ply_01kaj6dfw0e2x8bxmtpcs8nwfe",
           *       "kycStatus": "aprovado",
           *       "submissions": [
           *         {
           *           "id": "kyc_01kaj6e2v7fbpsp8m0fsfyh2kb",
           *           "documentType": "rg",
           *           "reference": "doc-831",
           *           "submittedAt": "2026-03-02T12:00:05.120Z"
           *         }
           *       ],
           *       "decidedAt": "2026-03-02T12:01:00.000Z",
           *       "reason": null
           *     }
           */
          'application/json': components['schemas']['Kyc']
        }
      }
      /**
       * @description `INVALID_CREDENTIALS`: The operator key is missing or unknown.
       *
       *     `TIMESTAMP_OUT_OF_RANGE`: X-Timestamp must be epoch seconds within 5 minutes of the server clock.
       *
       *     `INVALID_SIGNATURE`: The signature does not match the request.
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `OPERATOR_SUSPENDED`: The operator is suspended.
       *
       *     `FORBIDDEN_IP`: The caller's address is not among the operator's permitted addresses.
       */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `PLAYER_NOT_FOUND`: There is no such player in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  submitKyc: {
    parameters: {
      query?: never
      header: {
        /**
         * @description Names this effect for 24 hours. The same key and request answer the stored response with `Idempotent-Replayed: true`; after a 5xx or a time-out retry with the SAME key.
         * @example order-7f3a-attempt-1
         */
        'Idempotency-Key': components['parameters']['IdempotencyKey']
      }
      path: {
        /**
         * @description Opaque identifier.
         * @example ply_01kaj6dfw0e2x8bxmtpcs8nwfe
         */
        playerId: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "documentType": "rg",
         *       "reference": "doc-831"
         *     }
         */
        'application/json': components['schemas']['KycSubmissionRequest']
      }
    }
    responses: {
      /** @description Created. */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Idempotent-Replayed': components['headers']['Idempotent-Replayed']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "submission": {
           *         "id": "kyc_01kaj6e2v7fbpsp8m0fsfyh2kb",
           *         "documentType": "rg",
           *         "reference": "doc-831",
           *         "submittedAt": "2026-03-02T12:00:05.120Z"
           *       },
           *       "kycStatus": "em_analise"
           *     }
           */
          'application/json': components['schemas']['KycSubmissionReceipt']
        }
      }
      /** @description `IDEMPOTENCY_KEY_REQUIRED`: This operation requires the Idempotency-Key header. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `INVALID_CREDENTIALS`: The operator key is missing or unknown.
       *
       *     `TIMESTAMP_OUT_OF_RANGE`: X-Timestamp must be epoch seconds within 5 minutes of the server clock.
       *
       *     `INVALID_SIGNATURE`: The signature does not match the request.
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `OPERATOR_SUSPENDED`: The operator is suspended.
       *
       *     `FORBIDDEN_IP`: The caller's address is not among the operator's permitted addresses.
       */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `PLAYER_NOT_FOUND`: There is no such player in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `IDEMPOTENCY_CONFLICT`: This Idempotency-Key was used with another method, path or body.
       *
       *     `IDEMPOTENCY_IN_PROGRESS`: The first request with this Idempotency-Key is still running; wait and retry.
       *
       *     `KYC_ALREADY_APPROVED`: The identity check of this player is already approved.
       */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  createDeposit: {
    parameters: {
      query?: never
      header: {
        /**
         * @description Names this effect for 24 hours. The same key and request answer the stored response with `Idempotent-Replayed: true`; after a 5xx or a time-out retry with the SAME key.
         * @example order-7f3a-attempt-1
         */
        'Idempotency-Key': components['parameters']['IdempotencyKey']
      }
      path: {
        /**
         * @description Opaque identifier.
         * @example ply_01kaj6dfw0e2x8bxmtpcs8nwfe
         */
        playerId: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "amount": "150.00",
         *       "currency": "BRL",
         *       "method": "pix",
         *       "externalReference": "pay-1001"
         *     }
         */
        'application/json': components['schemas']['DepositRequest']
      }
    }
    responses: {
      /** @description Created. */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Idempotent-Replayed': components['headers']['Idempotent-Replayed']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "id": "dep_01kaj6fqs2e1hv2q9rqf3x6t4m",
           *       "playerId": "ply_01kaj6dfw0e2x8bxmtpcs8nwfe",
           *       "amount": "150.00",
           *       "currency": "BRL",
           *       "method": "pix",
           *       "externalReference": "pay-1001",
           *       "status": "pending",
           *       "failureReason": null,
           *       "createdAt": "2026-03-02T12:02:00.000Z",
           *       "confirmedAt": null,
           *       "failedAt": null
           *     }
           */
          'application/json': components['schemas']['Deposit']
        }
      }
      /** @description `IDEMPOTENCY_KEY_REQUIRED`: This operation requires the Idempotency-Key header. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `INVALID_CREDENTIALS`: The operator key is missing or unknown.
       *
       *     `TIMESTAMP_OUT_OF_RANGE`: X-Timestamp must be epoch seconds within 5 minutes of the server clock.
       *
       *     `INVALID_SIGNATURE`: The signature does not match the request.
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `OPERATOR_SUSPENDED`: The operator is suspended.
       *
       *     `FORBIDDEN_IP`: The caller's address is not among the operator's permitted addresses.
       *
       *     `RG_BLOCKED`: Refused by the player's self-exclusion or daily limit.
       *
       *     `PLAYER_NOT_ACTIVE`: The status of the player does not allow this operation.
       */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `PLAYER_NOT_FOUND`: There is no such player in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `IDEMPOTENCY_CONFLICT`: This Idempotency-Key was used with another method, path or body.
       *
       *     `IDEMPOTENCY_IN_PROGRESS`: The first request with this Idempotency-Key is still running; wait and retry.
       *
       *     `DEPOSIT_ALREADY_EXISTS`: A deposit with this externalReference already exists.
       */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `VALIDATION_ERROR`: The request is not valid.
       *
       *     `CURRENCY_MISMATCH`: The currency differs from the currency of the player.
       */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  confirmDeposit: {
    parameters: {
      query?: never
      header: {
        /**
         * @description Names this effect for 24 hours. The same key and request answer the stored response with `Idempotent-Replayed: true`; after a 5xx or a time-out retry with the SAME key.
         * @example order-7f3a-attempt-1
         */
        'Idempotency-Key': components['parameters']['IdempotencyKey']
      }
      path: {
        /**
         * @description Opaque identifier.
         * @example dep_01kaj6fqs2e1hv2q9rqf3x6t4m
         */
        depositId: string
      }
      cookie?: never
    }
    requestBody?: {
      content: {
        /** @example {} */
        'application/json': {
          [key: string]: unknown
        }
      }
    }
    responses: {
      /** @description Success. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Idempotent-Replayed': components['headers']['Idempotent-Replayed']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "id": "dep_01kaj6fqs2e1hv2q9rqf3x6t4m",
           *       "playerId": "ply_01kaj6dfw0e2x8bxmtpcs8nwfe",
           *       "amount": "150.00",
           *       "currency": "BRL",
           *       "method": "pix",
           *       "externalReference": "pay-1001",
           *       "status": "confirmed",
           *       "failureReason": null,
           *       "createdAt": "2026-03-02T12:02:00.000Z",
           *       "confirmedAt": "2026-03-02T12:02:31.400Z",
           *       "failedAt": null
           *     }
           */
          'application/json': components['schemas']['Deposit']
        }
      }
      /** @description `IDEMPOTENCY_KEY_REQUIRED`: This operation requires the Idempotency-Key header. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `INVALID_CREDENTIALS`: The operator key is missing or unknown.
       *
       *     `TIMESTAMP_OUT_OF_RANGE`: X-Timestamp must be epoch seconds within 5 minutes of the server clock.
       *
       *     `INVALID_SIGNATURE`: The signature does not match the request.
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `OPERATOR_SUSPENDED`: The operator is suspended.
       *
       *     `FORBIDDEN_IP`: The caller's address is not among the operator's permitted addresses.
       */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `DEPOSIT_NOT_FOUND`: There is no such deposit in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `IDEMPOTENCY_CONFLICT`: This Idempotency-Key was used with another method, path or body.
       *
       *     `IDEMPOTENCY_IN_PROGRESS`: The first request with this Idempotency-Key is still running; wait and retry.
       *
       *     `DEPOSIT_NOT_PENDING`: The deposit is no longer pending.
       */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  failDeposit: {
    parameters: {
      query?: never
      header: {
        /**
         * @description Names this effect for 24 hours. The same key and request answer the stored response with `Idempotent-Replayed: true`; after a 5xx or a time-out retry with the SAME key.
         * @example order-7f3a-attempt-1
         */
        'Idempotency-Key': components['parameters']['IdempotencyKey']
      }
      path: {
        /**
         * @description Opaque identifier.
         * @example dep_01kaj6fqs2e1hv2q9rqf3x6t4m
         */
        depositId: string
      }
      cookie?: never
    }
    requestBody?: {
      content: {
        /**
         * @example {
         *       "reason": "expired"
         *     }
         */
        'application/json': {
          reason?: string
        } & {
          [key: string]: unknown
        }
      }
    }
    responses: {
      /** @description Success. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Idempotent-Replayed': components['headers']['Idempotent-Replayed']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "id": "dep_01kaj6fqs2e1hv2q9rqf3x6t4m",
           *       "playerId": "ply_01kaj6dfw0e2x8bxmtpcs8nwfe",
           *       "amount": "150.00",
           *       "currency": "BRL",
           *       "method": "pix",
           *       "externalReference": "pay-1001",
           *       "status": "failed",
           *       "failureReason": "expired",
           *       "createdAt": "2026-03-02T12:02:00.000Z",
           *       "confirmedAt": null,
           *       "failedAt": "2026-03-02T12:32:00.000Z"
           *     }
           */
          'application/json': components['schemas']['Deposit']
        }
      }
      /** @description `IDEMPOTENCY_KEY_REQUIRED`: This operation requires the Idempotency-Key header. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `INVALID_CREDENTIALS`: The operator key is missing or unknown.
       *
       *     `TIMESTAMP_OUT_OF_RANGE`: X-Timestamp must be epoch seconds within 5 minutes of the server clock.
       *
       *     `INVALID_SIGNATURE`: The signature does not match the request.
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `OPERATOR_SUSPENDED`: The operator is suspended.
       *
       *     `FORBIDDEN_IP`: The caller's address is not among the operator's permitted addresses.
       */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `DEPOSIT_NOT_FOUND`: There is no such deposit in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `IDEMPOTENCY_CONFLICT`: This Idempotency-Key was used with another method, path or body.
       *
       *     `IDEMPOTENCY_IN_PROGRESS`: The first request with this Idempotency-Key is still running; wait and retry.
       *
       *     `DEPOSIT_NOT_PENDING`: The deposit is no longer pending.
       */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getWallet: {
    parameters: {
      query?: never
      header?: never
      path: {
        /**
         * @description Opaque identifier.
         * @example ply_01kaj6dfw0e2x8bxmtpcs8nwfe
         */
        playerId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Success. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "playerId": "ply_01kaj6dfw0e2x8bxmtpcs8nwfe",
           *       "currency": "BRL",
           *       "available": "150.00",
           *       "withdrawable": "110.00",
           *       "updatedAt": "2026-03-02T12:05:00.000Z"
           *     }
           */
          'application/json': components['schemas']['Wallet']
        }
      }
      /**
       * @description `INVALID_CREDENTIALS`: The operator key is missing or unknown.
       *
       *     `TIMESTAMP_OUT_OF_RANGE`: X-Timestamp must be epoch seconds within 5 minutes of the server clock.
       *
       *     `INVALID_SIGNATURE`: The signature does not match the request.
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `OPERATOR_SUSPENDED`: The operator is suspended.
       *
       *     `FORBIDDEN_IP`: The caller's address is not among the operator's permitted addresses.
       */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `PLAYER_NOT_FOUND`: There is no such player in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  listTransactions: {
    parameters: {
      query?: {
        /**
         * @description limit
         * @example 50
         */
        limit?: number
        /** @description Opaque, from the previous page. */
        cursor?: string
      }
      header?: never
      path: {
        /**
         * @description Opaque identifier.
         * @example ply_01kaj6dfw0e2x8bxmtpcs8nwfe
         */
        playerId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Success. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "data": [
           *         {
           *           "id": "led_01kaj6gnn6e7rs0h4jyyb6a6vd",
           *           "type": "DEPOSIT",
           *           "amount": "150.00",
           *           "currency": "BRL",
           *           "balanceAfter": "150.00",
           *           "reference": {
           *             "type": "deposit",
           *             "id": "dep_01kaj6fqs2e1hv2q9rqf3x6t4m"
           *           },
           *           "createdAt": "2026-03-02T12:02:31.400Z"
           *         }
           *       ],
           *       "nextCursor": null
           *     }
           */
          'application/json': components['schemas']['LedgerPage']
        }
      }
      /**
       * @description `INVALID_CREDENTIALS`: The operator key is missing or unknown.
       *
       *     `TIMESTAMP_OUT_OF_RANGE`: X-Timestamp must be epoch seconds within 5 minutes of the server clock.
       *
       *     `INVALID_SIGNATURE`: The signature does not match the request.
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `OPERATOR_SUSPENDED`: The operator is suspended.
       *
       *     `FORBIDDEN_IP`: The caller's address is not among the operator's permitted addresses.
       */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `PLAYER_NOT_FOUND`: There is no such player in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  listGames: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Success. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "data": [
           *         {
           *           "id": "fortune-reels",
           *           "name": "Fortune Reels",
           *           "provider": "Demo Studio",
           *           "category": "slots",
           *           "thumbnailUrl": "https://games.example.com/games/fortune-reels.svg",
           *           "rtp": "96.10",
           *           "demo": true
           *         }
           *       ]
           *     }
           */
          'application/json': {
            data: components['schemas']['Game'][]
          }
        }
      }
      /**
       * @description `INVALID_CREDENTIALS`: The operator key is missing or unknown.
       *
       *     `TIMESTAMP_OUT_OF_RANGE`: X-Timestamp must be epoch seconds within 5 minutes of the server clock.
       *
       *     `INVALID_SIGNATURE`: The signature does not match the request.
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `OPERATOR_SUSPENDED`: The operator is suspended.
       *
       *     `FORBIDDEN_IP`: The caller's address is not among the operator's permitted addresses.
       */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  openGameSession: {
    parameters: {
      query?: never
      header?: never
      path: {
        /**
         * @description Opaque identifier.
         * @example ply_01kaj6dfw0e2x8bxmtpcs8nwfe
         */
        playerId: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "gameId": "fortune-reels"
         *     }
         */
        'application/json': components['schemas']['GameSessionRequest']
      }
    }
    responses: {
      /** @description Created. */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "id": "ses_01kaj6hbv9e8psa4x2j3x0m6td",
           *       "playerId": "ply_01kaj6dfw0e2x8bxmtpcs8nwfe",
           *       "gameId": "fortune-reels",
           *       "mode": "demo",
           *       "gameUrl": "https://games.example.com/demo/fortune-reels#ZXhhbXBsZQ",
           *       "expiresAt": "2026-03-02T13:04:00.000Z"
           *     }
           */
          'application/json': components['schemas']['GameSession']
        }
      }
      /**
       * @description `INVALID_CREDENTIALS`: The operator key is missing or unknown.
       *
       *     `TIMESTAMP_OUT_OF_RANGE`: X-Timestamp must be epoch seconds within 5 minutes of the server clock.
       *
       *     `INVALID_SIGNATURE`: The signature does not match the request.
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `OPERATOR_SUSPENDED`: The operator is suspended.
       *
       *     `FORBIDDEN_IP`: The caller's address is not among the operator's permitted addresses.
       *
       *     `RG_BLOCKED`: Refused by the player's self-exclusion or daily limit.
       *
       *     `PLAYER_NOT_ACTIVE`: The status of the player does not allow this operation.
       *
       *     `KYC_NOT_APPROVED`: The player needs an approved identity check (KYC) for this operation.
       */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `PLAYER_NOT_FOUND`: There is no such player in this brand.
       *
       *     `GAME_NOT_FOUND`: There is no such game in the catalogue of this brand.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `IDEMPOTENCY_CONFLICT`: This Idempotency-Key was used with another method, path or body. */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `PROVIDER_UNAVAILABLE`: An upstream provider is unavailable. */
      502: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  requestWithdrawal: {
    parameters: {
      query?: never
      header: {
        /**
         * @description Names this effect for 24 hours. The same key and request answer the stored response with `Idempotent-Replayed: true`; after a 5xx or a time-out retry with the SAME key.
         * @example order-7f3a-attempt-1
         */
        'Idempotency-Key': components['parameters']['IdempotencyKey']
      }
      path: {
        /**
         * @description Opaque identifier.
         * @example ply_01kaj6dfw0e2x8bxmtpcs8nwfe
         */
        playerId: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "amount": "40.00",
         *       "currency": "BRL",
         *       "method": "pix",
         *       "destination": "ana@example.com"
         *     }
         */
        'application/json': components['schemas']['WithdrawalRequest']
      }
    }
    responses: {
      /** @description Created. */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Idempotent-Replayed': components['headers']['Idempotent-Replayed']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "id": "wdr_01kaj6j0a5fz7r6v4n0y2cj3sk",
           *       "playerId": "ply_01kaj6dfw0e2x8bxmtpcs8nwfe",
           *       "amount": "40.00",
           *       "currency": "BRL",
           *       "method": "pix",
           *       "destination": "ana@example.com",
           *       "status": "under_review",
           *       "reason": null,
           *       "createdAt": "2026-03-02T12:05:00.000Z",
           *       "updatedAt": "2026-03-02T12:05:00.000Z",
           *       "reviewedAt": null,
           *       "paidAt": null
           *     }
           */
          'application/json': components['schemas']['Withdrawal']
        }
      }
      /** @description `IDEMPOTENCY_KEY_REQUIRED`: This operation requires the Idempotency-Key header. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `INVALID_CREDENTIALS`: The operator key is missing or unknown.
       *
       *     `TIMESTAMP_OUT_OF_RANGE`: X-Timestamp must be epoch seconds within 5 minutes of the server clock.
       *
       *     `INVALID_SIGNATURE`: The signature does not match the request.
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `OPERATOR_SUSPENDED`: The operator is suspended.
       *
       *     `FORBIDDEN_IP`: The caller's address is not among the operator's permitted addresses.
       *
       *     `KYC_NOT_APPROVED`: The player needs an approved identity check (KYC) for this operation.
       */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `PLAYER_NOT_FOUND`: There is no such player in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `IDEMPOTENCY_CONFLICT`: This Idempotency-Key was used with another method, path or body.
       *
       *     `IDEMPOTENCY_IN_PROGRESS`: The first request with this Idempotency-Key is still running; wait and retry.
       */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `VALIDATION_ERROR`: The request is not valid.
       *
       *     `CURRENCY_MISMATCH`: The currency differs from the currency of the player.
       *
       *     `INSUFFICIENT_FUNDS`: The withdrawable balance does not cover the amount.
       */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getWithdrawal: {
    parameters: {
      query?: never
      header?: never
      path: {
        /**
         * @description Opaque identifier.
         * @example wdr_01kaj6j0a5fz7r6v4n0y2cj3sk
         */
        withdrawalId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Success. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "id": "wdr_01kaj6j0a5fz7r6v4n0y2cj3sk",
           *       "playerId": "ply_01kaj6dfw0e2x8bxmtpcs8nwfe",
           *       "amount": "40.00",
           *       "currency": "BRL",
           *       "method": "pix",
           *       "destination": "ana@example.com",
           *       "status": "under_review",
           *       "reason": null,
           *       "createdAt": "2026-03-02T12:05:00.000Z",
           *       "updatedAt": "2026-03-02T12:05:00.000Z",
           *       "reviewedAt": null,
           *       "paidAt": null
           *     }
           */
          'application/json': components['schemas']['Withdrawal']
        }
      }
      /**
       * @description `INVALID_CREDENTIALS`: The operator key is missing or unknown.
       *
       *     `TIMESTAMP_OUT_OF_RANGE`: X-Timestamp must be epoch seconds within 5 minutes of the server clock.
       *
       *     `INVALID_SIGNATURE`: The signature does not match the request.
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `OPERATOR_SUSPENDED`: The operator is suspended.
       *
       *     `FORBIDDEN_IP`: The caller's address is not among the operator's permitted addresses.
       */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `WITHDRAWAL_NOT_FOUND`: There is no such withdrawal in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  cancelWithdrawal: {
    parameters: {
      query?: never
      header: {
        /**
         * @description Names this effect for 24 hours. The same key and request answer the stored response with `Idempotent-Replayed: true`; after a 5xx or a time-out retry with the SAME key.
         * @example order-7f3a-attempt-1
         */
        'Idempotency-Key': components['parameters']['IdempotencyKey']
      }
      path: {
        /**
         * @description Opaque identifier.
         * @example wdr_01kaj6j0a5fz7r6v4n0y2cj3sk
         */
        withdrawalId: string
      }
      cookie?: never
    }
    requestBody?: {
      content: {
        /** @example {} */
        'application/json': {
          [key: string]: unknown
        }
      }
    }
    responses: {
      /** @description Success. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Idempotent-Replayed': components['headers']['Idempotent-Replayed']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "id": "wdr_01kaj6j0a5fz7r6v4n0y2cj3sk",
           *       "playerId": "ply_01kaj6dfw0e2x8bxmtpcs8nwfe",
           *       "amount": "40.00",
           *       "currency": "BRL",
           *       "method": "pix",
           *       "destination": "ana@example.com",
           *       "status": "cancelled",
           *       "reason": null,
           *       "createdAt": "2026-03-02T12:05:00.000Z",
           *       "updatedAt": "2026-03-02T12:06:00.000Z",
           *       "reviewedAt": null,
           *       "paidAt": null
           *     }
           */
          'application/json': components['schemas']['Withdrawal']
        }
      }
      /** @description `IDEMPOTENCY_KEY_REQUIRED`: This operation requires the Idempotency-Key header. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `INVALID_CREDENTIALS`: The operator key is missing or unknown.
       *
       *     `TIMESTAMP_OUT_OF_RANGE`: X-Timestamp must be epoch seconds within 5 minutes of the server clock.
       *
       *     `INVALID_SIGNATURE`: The signature does not match the request.
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `OPERATOR_SUSPENDED`: The operator is suspended.
       *
       *     `FORBIDDEN_IP`: The caller's address is not among the operator's permitted addresses.
       */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `WITHDRAWAL_NOT_FOUND`: There is no such withdrawal in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `IDEMPOTENCY_CONFLICT`: This Idempotency-Key was used with another method, path or body.
       *
       *     `IDEMPOTENCY_IN_PROGRESS`: The first request with this Idempotency-Key is still running; wait and retry.
       *
       *     `WITHDRAWAL_NOT_CANCELLABLE`: The withdrawal is no longer under review.
       */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  testWebhook: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: {
      content: {
        /** @example {} */
        'application/json': {
          [key: string]: unknown
        }
      }
    }
    responses: {
      /** @description Success. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "eventId": "evt_01kaj6m6k4fvgs2g4k5x9q9n3c",
           *       "delivered": true,
           *       "responseStatus": 204,
           *       "durationMs": 41,
           *       "error": null
           *     }
           */
          'application/json': components['schemas']['WebhookTestResult']
        }
      }
      /**
       * @description `INVALID_CREDENTIALS`: The operator key is missing or unknown.
       *
       *     `TIMESTAMP_OUT_OF_RANGE`: X-Timestamp must be epoch seconds within 5 minutes of the server clock.
       *
       *     `INVALID_SIGNATURE`: The signature does not match the request.
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `OPERATOR_SUSPENDED`: The operator is suspended.
       *
       *     `FORBIDDEN_IP`: The caller's address is not among the operator's permitted addresses.
       */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `IDEMPOTENCY_CONFLICT`: This Idempotency-Key was used with another method, path or body.
       *
       *     `WEBHOOK_NOT_CONFIGURED`: No webhook URL is configured for this environment.
       */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  decideWithdrawalInSandbox: {
    parameters: {
      query?: never
      header?: never
      path: {
        /**
         * @description Opaque identifier.
         * @example wdr_01kaj6j0a5fz7r6v4n0y2cj3sk
         */
        withdrawalId: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "decision": "approve"
         *     }
         */
        'application/json': components['schemas']['WithdrawalDecisionRequest']
      }
    }
    responses: {
      /** @description Success. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "id": "wdr_01kaj6j0a5fz7r6v4n0y2cj3sk",
           *       "playerId": "ply_01kaj6dfw0e2x8bxmtpcs8nwfe",
           *       "amount": "40.00",
           *       "currency": "BRL",
           *       "method": "pix",
           *       "destination": "ana@example.com",
           *       "status": "approved",
           *       "reason": null,
           *       "createdAt": "2026-03-02T12:05:00.000Z",
           *       "updatedAt": "2026-03-02T12:09:00.000Z",
           *       "reviewedAt": "2026-03-02T12:09:00.000Z",
           *       "paidAt": null
           *     }
           */
          'application/json': components['schemas']['Withdrawal']
        }
      }
      /**
       * @description `INVALID_CREDENTIALS`: The operator key is missing or unknown.
       *
       *     `TIMESTAMP_OUT_OF_RANGE`: X-Timestamp must be epoch seconds within 5 minutes of the server clock.
       *
       *     `INVALID_SIGNATURE`: The signature does not match the request.
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `OPERATOR_SUSPENDED`: The operator is suspended.
       *
       *     `FORBIDDEN_IP`: The caller's address is not among the operator's permitted addresses.
       *
       *     `SANDBOX_ONLY`: This operation exists in the sandbox only.
       */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `WITHDRAWAL_NOT_FOUND`: There is no such withdrawal in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `IDEMPOTENCY_CONFLICT`: This Idempotency-Key was used with another method, path or body.
       *
       *     `WITHDRAWAL_INVALID_STATE`: The status of the withdrawal does not allow this decision.
       */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  decideKycInSandbox: {
    parameters: {
      query?: never
      header?: never
      path: {
        /**
         * @description Opaque identifier.
         * @example ply_01kaj6dfw0e2x8bxmtpcs8nwfe
         */
        playerId: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "status": "aprovado"
         *     }
         */
        'application/json': components['schemas']['KycDecisionRequest']
      }
    }
    responses: {
      /** @description Success. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "playerId": "ply_01kaj6dfw0e2x8bxmtpcs8nwfe",
           *       "kycStatus": "aprovado",
           *       "submissions": [
           *         {
           *           "id": "kyc_01kaj6e2v7fbpsp8m0fsfyh2kb",
           *           "documentType": "rg",
           *           "reference": "doc-831",
           *           "submittedAt": "2026-03-02T12:00:05.120Z"
           *         }
           *       ],
           *       "decidedAt": "2026-03-02T12:01:00.000Z",
           *       "reason": null
           *     }
           */
          'application/json': components['schemas']['KycChange']
        }
      }
      /**
       * @description `INVALID_CREDENTIALS`: The operator key is missing or unknown.
       *
       *     `TIMESTAMP_OUT_OF_RANGE`: X-Timestamp must be epoch seconds within 5 minutes of the server clock.
       *
       *     `INVALID_SIGNATURE`: The signature does not match the request.
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /**
       * @description `OPERATOR_SUSPENDED`: The operator is suspended.
       *
       *     `FORBIDDEN_IP`: The caller's address is not among the operator's permitted addresses.
       *
       *     `SANDBOX_ONLY`: This operation exists in the sandbox only.
       */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `PLAYER_NOT_FOUND`: There is no such player in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `IDEMPOTENCY_CONFLICT`: This Idempotency-Key was used with another method, path or body. */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getOpenApi: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Success. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            [key: string]: unknown
          }
        }
      }
      /** @description `HEADERS_TOO_LARGE`: The request headers are too large. */
      431: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getChangelog: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Success. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'text/markdown': string
        }
      }
      /** @description `HEADERS_TOO_LARGE`: The request headers are too large. */
      431: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getPostmanCollection: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Success. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            [key: string]: unknown
          }
        }
      }
      /** @description `HEADERS_TOO_LARGE`: The request headers are too large. */
      431: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getSigningSnippets: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Success. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            [key: string]: unknown
          }
        }
      }
      /** @description `HEADERS_TOO_LARGE`: The request headers are too large. */
      431: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getTestVectors: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Success. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            [key: string]: unknown
          }
        }
      }
      /** @description `HEADERS_TOO_LARGE`: The request headers are too large. */
      431: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getDocs: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Success. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'text/html': string
        }
      }
      /** @description `HEADERS_TOO_LARGE`: The request headers are too large. */
      431: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  webhook_kyc_status_changed: {
    parameters: {
      query?: never
      header: {
        /** @description Id of the event: use it to drop duplicates. */
        'X-Webhook-Id': string
        /** @description Epoch seconds of this attempt, part of what is signed. */
        'X-Webhook-Timestamp': string
        /** @description Lowercase hex HMAC-SHA256 with the webhook secret over timestamp, a dot, and the raw body. */
        'X-Webhook-Signature': string
        /** @description The same signature made with every valid secret, newest first. */
        'X-Webhook-Signatures': string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "id": "evt_01kaj6k1q8e2jr1v0b1k7z5h9p",
         *       "type": "kyc.status_changed",
         *       "apiVersion": "1.1.0",
         *       "environment": "sandbox",
         *       "operatorId": "op_01kaj6a0qkf3d8ry3j8z6c9m1e",
         *       "brandId": "brd_01kaj6a0qmf8ctbdfmbh5yt2r7",
         *       "createdAt": "2026-03-02T12:09:00.000Z",
         *       "data": {
         *         "playerId": "ply_01kaj6dfw0e2x8bxmtpcs8nwfe",
         *         "kycStatus": "aprovado",
         *         "submissions": [
         *           {
         *             "id": "kyc_01kaj6e2v7fbpsp8m0fsfyh2kb",
         *             "documentType": "rg",
         *             "reference": "doc-831",
         *             "submittedAt": "2026-03-02T12:00:05.120Z"
         *           }
         *         ],
         *         "decidedAt": "2026-03-02T12:01:00.000Z",
         *         "reason": null,
         *         "previousStatus": "em_analise",
         *         "version": 2
         *       }
         *     }
         */
        'application/json': components['schemas']['KycStatusChangedEvent']
      }
    }
    responses: {
      /** @description Acknowledged. */
      '2XX': {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description Anything else is retried with exponential backoff, up to 8 attempts. */
      default: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
    }
  }
  webhook_deposit_confirmed: {
    parameters: {
      query?: never
      header: {
        /** @description Id of the event: use it to drop duplicates. */
        'X-Webhook-Id': string
        /** @description Epoch seconds of this attempt, part of what is signed. */
        'X-Webhook-Timestamp': string
        /** @description Lowercase hex HMAC-SHA256 with the webhook secret over timestamp, a dot, and the raw body. */
        'X-Webhook-Signature': string
        /** @description The same signature made with every valid secret, newest first. */
        'X-Webhook-Signatures': string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "id": "evt_01kaj6k1q8e2jr1v0b1k7z5h9p",
         *       "type": "deposit.confirmed",
         *       "apiVersion": "1.1.0",
         *       "environment": "sandbox",
         *       "operatorId": "op_01kaj6a0qkf3d8ry3j8z6c9m1e",
         *       "brandId": "brd_01kaj6a0qmf8ctbdfmbh5yt2r7",
         *       "createdAt": "2026-03-02T12:09:00.000Z",
         *       "data": {
         *         "id": "dep_01kaj6fqs2e1hv2q9rqf3x6t4m",
         *         "playerId": "ply_01kaj6dfw0e2x8bxmtpcs8nwfe",
         *         "amount": "150.00",
         *         "currency": "BRL",
         *         "method": "pix",
         *         "externalReference": "pay-1001",
         *         "status": "confirmed",
         *         "failureReason": null,
         *         "createdAt": "2026-03-02T12:02:00.000Z",
         *         "confirmedAt": "2026-03-02T12:02:31.400Z",
         *         "failedAt": null,
         *         "previousStatus": "pending",
         *         "version": 2
         *       }
         *     }
         */
        'application/json': components['schemas']['DepositConfirmedEvent']
      }
    }
    responses: {
      /** @description Acknowledged. */
      '2XX': {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description Anything else is retried with exponential backoff, up to 8 attempts. */
      default: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
    }
  }
  webhook_withdrawal_status_changed: {
    parameters: {
      query?: never
      header: {
        /** @description Id of the event: use it to drop duplicates. */
        'X-Webhook-Id': string
        /** @description Epoch seconds of this attempt, part of what is signed. */
        'X-Webhook-Timestamp': string
        /** @description Lowercase hex HMAC-SHA256 with the webhook secret over timestamp, a dot, and the raw body. */
        'X-Webhook-Signature': string
        /** @description The same signature made with every valid secret, newest first. */
        'X-Webhook-Signatures': string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "id": "evt_01kaj6k1q8e2jr1v0b1k7z5h9p",
         *       "type": "withdrawal.status_changed",
         *       "apiVersion": "1.1.0",
         *       "environment": "sandbox",
         *       "operatorId": "op_01kaj6a0qkf3d8ry3j8z6c9m1e",
         *       "brandId": "brd_01kaj6a0qmf8ctbdfmbh5yt2r7",
         *       "createdAt": "2026-03-02T12:09:00.000Z",
         *       "data": {
         *         "id": "wdr_01kaj6j0a5fz7r6v4n0y2cj3sk",
         *         "playerId": "ply_01kaj6dfw0e2x8bxmtpcs8nwfe",
         *         "amount": "40.00",
         *         "currency": "BRL",
         *         "method": "pix",
         *         "destination": "ana@example.com",
         *         "status": "approved",
         *         "reason": null,
         *         "createdAt": "2026-03-02T12:05:00.000Z",
         *         "updatedAt": "2026-03-02T12:09:00.000Z",
         *         "reviewedAt": "2026-03-02T12:09:00.000Z",
         *         "paidAt": null,
         *         "previousStatus": "under_review",
         *         "version": 2
         *       }
         *     }
         */
        'application/json': components['schemas']['WithdrawalStatusChangedEvent']
      }
    }
    responses: {
      /** @description Acknowledged. */
      '2XX': {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description Anything else is retried with exponential backoff, up to 8 attempts. */
      default: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
    }
  }
  webhook_webhook_test: {
    parameters: {
      query?: never
      header: {
        /** @description Id of the event: use it to drop duplicates. */
        'X-Webhook-Id': string
        /** @description Epoch seconds of this attempt, part of what is signed. */
        'X-Webhook-Timestamp': string
        /** @description Lowercase hex HMAC-SHA256 with the webhook secret over timestamp, a dot, and the raw body. */
        'X-Webhook-Signature': string
        /** @description The same signature made with every valid secret, newest first. */
        'X-Webhook-Signatures': string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "id": "evt_01kaj6k1q8e2jr1v0b1k7z5h9p",
         *       "type": "webhook.test",
         *       "apiVersion": "1.1.0",
         *       "environment": "sandbox",
         *       "operatorId": "op_01kaj6a0qkf3d8ry3j8z6c9m1e",
         *       "brandId": "brd_01kaj6a0qmf8ctbdfmbh5yt2r7",
         *       "createdAt": "2026-03-02T12:09:00.000Z",
         *       "data": {
         *         "message": "This is a test delivery."
         *       }
         *     }
         */
        'application/json': components['schemas']['WebhookTestEvent']
      }
    }
    responses: {
      /** @description Acknowledged. */
      '2XX': {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description Anything else is retried with exponential backoff, up to 8 attempts. */
      default: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
    }
  }
}
