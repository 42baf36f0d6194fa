// Generated from the operation table by "npm run generate"; a test fails when it is stale.

export const apiVersion = '1.1.0'

/** Whether the same request, with the same Idempotency-Key, may succeed when it is sent again. */
export const retryableByCode: ReadonlyMap<string, boolean> = new Map([
  ['IDEMPOTENCY_KEY_REQUIRED', false],
  ['INVALID_CREDENTIALS', false],
  ['INVALID_SIGNATURE', false],
  ['TIMESTAMP_OUT_OF_RANGE', false],
  ['OPERATOR_SUSPENDED', false],
  ['FORBIDDEN_IP', false],
  ['SANDBOX_ONLY', false],
  ['KYC_NOT_APPROVED', false],
  ['PLAYER_NOT_ACTIVE', false],
  ['RG_BLOCKED', false],
  ['NOT_FOUND', false],
  ['PLAYER_NOT_FOUND', false],
  ['DEPOSIT_NOT_FOUND', false],
  ['WITHDRAWAL_NOT_FOUND', false],
  ['GAME_NOT_FOUND', false],
  ['METHOD_NOT_ALLOWED', false],
  ['REQUEST_TIMEOUT', true],
  ['IDEMPOTENCY_CONFLICT', false],
  ['IDEMPOTENCY_IN_PROGRESS', true],
  ['PLAYER_ALREADY_EXISTS', false],
  ['KYC_ALREADY_APPROVED', false],
  ['DEPOSIT_ALREADY_EXISTS', false],
  ['DEPOSIT_NOT_PENDING', false],
  ['WITHDRAWAL_NOT_CANCELLABLE', false],
  ['WITHDRAWAL_INVALID_STATE', false],
  ['WEBHOOK_NOT_CONFIGURED', false],
  ['PAYLOAD_TOO_LARGE', false],
  ['UNSUPPORTED_MEDIA_TYPE', false],
  ['VALIDATION_ERROR', false],
  ['CURRENCY_MISMATCH', false],
  ['INSUFFICIENT_FUNDS', false],
  ['RATE_LIMITED', true],
  ['HEADERS_TOO_LARGE', false],
  ['INTERNAL_ERROR', true],
  ['PROVIDER_UNAVAILABLE', true],
  ['SERVICE_UNAVAILABLE', true],
])

/** What refuses a request only after its Idempotency-Key was looked up. */
export const finalCodes: ReadonlySet<string> = new Set([
  'KYC_NOT_APPROVED',
  'PLAYER_NOT_ACTIVE',
  'RG_BLOCKED',
  'PLAYER_NOT_FOUND',
  'DEPOSIT_NOT_FOUND',
  'WITHDRAWAL_NOT_FOUND',
  'IDEMPOTENCY_CONFLICT',
  'PLAYER_ALREADY_EXISTS',
  'KYC_ALREADY_APPROVED',
  'DEPOSIT_ALREADY_EXISTS',
  'DEPOSIT_NOT_PENDING',
  'WITHDRAWAL_NOT_CANCELLABLE',
  'VALIDATION_ERROR',
  'CURRENCY_MISMATCH',
  'INSUFFICIENT_FUNDS',
])

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
    /**
     * @description Stable: branch on it. New rules and operations may bring new codes.
     * @enum {string}
     */
    ErrorCode:
      | 'IDEMPOTENCY_KEY_REQUIRED'
      | 'INVALID_CREDENTIALS'
      | 'INVALID_SIGNATURE'
      | 'TIMESTAMP_OUT_OF_RANGE'
      | 'OPERATOR_SUSPENDED'
      | 'FORBIDDEN_IP'
      | 'SANDBOX_ONLY'
      | 'KYC_NOT_APPROVED'
      | 'PLAYER_NOT_ACTIVE'
      | 'RG_BLOCKED'
      | 'NOT_FOUND'
      | 'PLAYER_NOT_FOUND'
      | 'DEPOSIT_NOT_FOUND'
      | 'WITHDRAWAL_NOT_FOUND'
      | 'GAME_NOT_FOUND'
      | 'METHOD_NOT_ALLOWED'
      | 'REQUEST_TIMEOUT'
      | 'IDEMPOTENCY_CONFLICT'
      | 'IDEMPOTENCY_IN_PROGRESS'
      | 'PLAYER_ALREADY_EXISTS'
      | 'KYC_ALREADY_APPROVED'
      | 'DEPOSIT_ALREADY_EXISTS'
      | 'DEPOSIT_NOT_PENDING'
      | 'WITHDRAWAL_NOT_CANCELLABLE'
      | 'WITHDRAWAL_INVALID_STATE'
      | 'WEBHOOK_NOT_CONFIGURED'
      | 'PAYLOAD_TOO_LARGE'
      | 'UNSUPPORTED_MEDIA_TYPE'
      | 'VALIDATION_ERROR'
      | 'CURRENCY_MISMATCH'
      | 'INSUFFICIENT_FUNDS'
      | 'RATE_LIMITED'
      | 'HEADERS_TOO_LARGE'
      | 'INTERNAL_ERROR'
      | 'PROVIDER_UNAVAILABLE'
      | 'SERVICE_UNAVAILABLE'
    Error: {
      error: {
        code: components['schemas']['ErrorCode']
        /** @description For people; may change. */
        message: string
        /** @description The same as X-Request-Id. */
        requestId: string
        /** @description Depends on the code. */
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
      /** @description Whose credential it is. */
      operator: {
        /** @description You, the operator. */
        id: string
        /** @description Your name, as our team registered it. */
        name: string
        /**
         * @description Where your requests belong; the key chooses it.
         *     - `sandbox`: the test brand, with invented people and fictitious money
         *     - `production`: the real brand
         * @enum {string}
         */
        environment: 'sandbox' | 'production'
      }
      /** @description The brand that the key works on. */
      brand: {
        /** @description The brand whose data the key reaches. */
        id: string
        /** @description Its name. */
        name: string
        /** @description Its currency (ISO 4217): that of every player you register. */
        currency: string
        /** @description True for the test brand, whose data is isolated from production. */
        isSandbox: boolean
      }
      /** @description Version of the API, a semantic version. */
      apiVersion: string
    }
    /**
     * @description Cause: `X-Operator-Key` is missing, mistyped, or revoked.
     *
     *     Cure: Send the key (`bk_test_…` or `bk_live_…`), not the secret. If it was replaced, use the new pair.
     */
    InvalidCredentialsError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'INVALID_CREDENTIALS'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: The header is missing, in milliseconds, or your clock is wrong.
     *
     *     Cure: Send epoch seconds, take them anew for each attempt, and keep the clock right (NTP).
     */
    TimestampOutOfRangeError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'TIMESTAMP_OUT_OF_RANGE'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
      /** @description In the sandbox only. */
      details?: {
        /** @description Our clock, in epoch seconds. */
        serverTime: number
      } & {
        [key: string]: unknown
      }
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: What you signed is not what arrived, or the secret belongs to another key.
     *
     *     Cure: In the sandbox, open `details.compareAt`: it compares our canonical string with yours and names the usual causes.
     */
    InvalidSignatureError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'INVALID_SIGNATURE'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
      /** @description In the sandbox only. */
      details?: {
        /** @description The string that we built from your request and signed. */
        canonicalString: string
        /** @description A page that compares it with yours. It sends nothing to anybody. */
        compareAt?: string
      } & {
        [key: string]: unknown
      }
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: Our team has suspended your access.
     *
     *     Cure: Stop sending, and talk to us. Events are still delivered.
     */
    OperatorSuspendedError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'OPERATOR_SUSPENDED'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: The request left your network by an address that is not on your list.
     *
     *     Cure: Send through a permitted address, or give us the new one before you use it.
     */
    ForbiddenIpError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'FORBIDDEN_IP'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: A field, parameter, header or cursor is not as the reference says; `details.issues` names each.
     *
     *     Cure: Correct it, and send it with a new Idempotency-Key: this reply is stored under the old one.
     */
    ValidationError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'VALIDATION_ERROR'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
      details: {
        /**
         * @description Which part of the request is not valid.
         * @enum {string}
         */
        in: 'body' | 'query' | 'path' | 'headers'
        /** @description What is wrong, a place each. */
        issues: ({
          /** @description JSON pointer to the value; empty for the whole part. */
          path: string
          /** @description What is wrong with it, in plain words. It may change. */
          message: string
        } & {
          [key: string]: unknown
        })[]
      } & {
        [key: string]: unknown
      }
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: More requests in a minute than agreed; or too many failed authentications from your address.
     *
     *     Cure: Wait for `Retry-After`. Spread the load, and hear of changes by webhooks instead of asking.
     */
    RateLimitedError: {
      /** @enum {string} */
      code: 'RATE_LIMITED'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: A fault of ours.
     *
     *     Cure: Retry with the same Idempotency-Key, within 24 hours of the first request, with exponential backoff and jitter, after `Retry-After` at the earliest. If it stays, send us the request id.
     */
    InternalError: {
      /** @enum {string} */
      code: 'INTERNAL_ERROR'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: Part of our system is away for a moment.
     *
     *     Cure: Retry with the same Idempotency-Key, within 24 hours of the first request, with exponential backoff and jitter, after `Retry-After` at the earliest.
     */
    ServiceUnavailableError: {
      /** @enum {string} */
      code: 'SERVICE_UNAVAILABLE'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
    }
    PlayerRequest: {
      /** @description The operator's own identifier; unique per brand. */
      externalId: string
      /** @description Full name. */
      name: string
      /**
       * Format: email
       * @description E-mail address.
       */
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
    /** @description A player of your brand. Withdrawals do not depend on its status: nobody is kept from their money. */
    Player: {
      /** @description Our id of the player. */
      id: string
      /** @description Your own id of the player. */
      externalId: string | null
      /** @description Full name. */
      name: string
      /** @description E-mail address. */
      email: string
      /** @description CPF, digits only. */
      cpf: string
      /** @description Phone number; null if you sent none. */
      phone: string | null
      /**
       * Format: date
       * @description Birth date, YYYY-MM-DD.
       */
      birthDate: string | null
      status: components['schemas']['PlayerStatus']
      kycStatus: components['schemas']['KycStatus']
      /** @description Currency of the account (ISO 4217). */
      currency: string
      /**
       * Format: date-time
       * @description When the player was registered.
       */
      createdAt: string
    }
    /**
     * @description Account status of the player, as it is now. Deposits and play need `ativo`; withdrawals do not depend on it. `suspenso`, `bloqueado`, `encerrado` and `restrito` refuse the same, and differ in why.
     *     - `ativo`: active; deposits are possible, and play once the KYC is approved
     *     - `suspenso`: suspended by the team for a time, while something is cleared up; deposits and play are refused with `PLAYER_NOT_ACTIVE`
     *     - `bloqueado`: blocked by the team until further notice, for example for fraud; deposits and play are refused with `PLAYER_NOT_ACTIVE`
     *     - `autoexcluido`: self-excluded, for a time or for good, whatever else the status would be. It is of the person, so it holds for every player of your brand with the same CPF; deposits and play are refused with `RG_BLOCKED`
     *     - `encerrado`: closed for good or until somebody asks for it again; deposits and play are refused with `PLAYER_NOT_ACTIVE`
     *     - `restrito`: restricted by the team, for example by the order of an authority; deposits and play are refused with `PLAYER_NOT_ACTIVE`
     * @enum {string}
     */
    PlayerStatus: 'ativo' | 'suspenso' | 'bloqueado' | 'autoexcluido' | 'encerrado' | 'restrito'
    /**
     * @description Status of the identity check (KYC).
     *     - `nao_iniciado`: not begun; no document was submitted yet
     *     - `pendente`: pending; set by the team while something is still missing
     *     - `em_analise`: in review; a document was submitted, and the team decides
     *     - `documento_solicitado`: the team asks for another document; submit one
     *     - `aprovado`: approved; withdrawals and game sessions are possible
     *     - `reprovado`: refused; `reason` says why; a new submission begins a new review
     *     - `expirado`: expired; the approval has ended, by its term or by a decision; submit a document again
     * @enum {string}
     */
    KycStatus:
      | 'nao_iniciado'
      | 'pendente'
      | 'em_analise'
      | 'documento_solicitado'
      | 'aprovado'
      | 'reprovado'
      | 'expirado'
    /**
     * @description Cause: The operation changes money or records, and the header is missing or empty.
     *
     *     Cure: Make one key per intent, store it, and send it with every attempt.
     */
    IdempotencyKeyRequiredError: {
      /** @enum {string} */
      code: 'IDEMPOTENCY_KEY_REQUIRED'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: Two intents share a key, or a retry serialised its body anew. With `details.signature`: two equal requests were signed in one second.
     *
     *     Cure: Repeat the stored bytes with the stored key, within 24 hours of the first request; give a new intent a new key. With `details.signature`: wait a second, sign anew, send again.
     */
    IdempotencyConflictError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'IDEMPOTENCY_CONFLICT'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
      /** @description Under replay protection only. The request had no effect: sign it anew, and send it. */
      details?: {
        /**
         * @description The signature was accepted before, for another request.
         * @constant
         */
        signature: 'used'
      } & {
        [key: string]: unknown
      }
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: You sent a retry before the first attempt had its reply.
     *
     *     Cure: Wait for `Retry-After`, then retry with the same key: you get the reply of the first.
     */
    IdempotencyInProgressError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'IDEMPOTENCY_IN_PROGRESS'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: You registered this `externalId` before.
     *
     *     Cure: Go on with `details.playerId`.
     */
    PlayerAlreadyExistsError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'PLAYER_ALREADY_EXISTS'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
      details: {
        /** @description The player that has the `externalId`. */
        playerId: string
      } & {
        [key: string]: unknown
      }
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: A body that no operation needs, for example a document file.
     *
     *     Cure: Send your reference to the file, never the file.
     */
    PayloadTooLargeError: {
      /** @enum {string} */
      code: 'PAYLOAD_TOO_LARGE'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: `Content-Type` is missing, or names something else.
     *
     *     Cure: Send `Content-Type: application/json`.
     */
    UnsupportedMediaTypeError: {
      /** @enum {string} */
      code: 'UNSUPPORTED_MEDIA_TYPE'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
    }
    /** @description A player's identity check. */
    Kyc: {
      /** @description The player. */
      playerId: string
      kycStatus: components['schemas']['KycStatus']
      /** @description Most recent first: at most the last 100, and fewer when their references are very long (64 KiB). */
      submissions: components['schemas']['KycSubmission'][]
      /**
       * Format: date-time
       * @description When the team last decided; null before the first decision.
       */
      decidedAt: string | null
      /** @description Why it decided so, if it said; for you to act on. */
      reason: string | null
    }
    /** @description A document that you submitted. */
    KycSubmission: {
      /** @description The submission. */
      id: string
      /** @description Kind of document, as you labelled it. */
      documentType: string
      /** @description Your reference to the stored document file. */
      reference: string
      /**
       * Format: date-time
       * @description When you submitted it.
       */
      submittedAt: string
    }
    /**
     * @description Cause: The id is wrong, is your own `externalId`, or belongs to the other environment.
     *
     *     Cure: Use the `id` that we gave, or find it by `externalId`.
     */
    PlayerNotFoundError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'PLAYER_NOT_FOUND'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
    }
    KycSubmissionRequest: {
      /** @description Kind of document, a label of your own. */
      documentType: string
      /** @description Your reference to the stored document file. */
      reference: string
    }
    KycSubmissionReceipt: {
      submission: components['schemas']['KycSubmission']
      kycStatus: components['schemas']['KycStatus']
    }
    /**
     * @description Cause: A document was submitted for a player who needs none.
     *
     *     Cure: Nothing to do.
     */
    KycAlreadyApprovedError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'KYC_ALREADY_APPROVED'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
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
    /** @description A deposit. You collect the payment; we credit the wallet on confirm. */
    Deposit: {
      /** @description The deposit. */
      id: string
      /** @description The player whose wallet it credits. */
      playerId: string
      /** @description What the wallet is credited with on confirm. */
      amount: string
      /** @description Currency of the amount (ISO 4217). */
      currency: string
      /** @description Your payment-method label. */
      method: string
      /** @description Your payment reference. */
      externalReference: string
      status: components['schemas']['DepositStatus']
      /** @description Why it failed, if somebody said. */
      failureReason: string | null
      /**
       * Format: date-time
       * @description When you created it.
       */
      createdAt: string
      /**
       * Format: date-time
       * @description When it was confirmed; null until then.
       */
      confirmedAt: string | null
      /**
       * Format: date-time
       * @description When it failed; null unless it did.
       */
      failedAt: string | null
    }
    /**
     * @description Status of the deposit.
     *     - `pending`: created; nothing is credited yet
     *     - `confirmed`: you confirmed it; the wallet was credited, once
     *     - `failed`: you marked it as failed, or our team ended it; nothing was credited
     * @enum {string}
     */
    DepositStatus: 'pending' | 'confirmed' | 'failed'
    /**
     * @description Cause: Responsible gaming: `details.reason` says which rule.
     *
     *     Cure: Do not collect the payment, and do not offer a way around. A daily limit ends with the day of the brand.
     */
    RgBlockedError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'RG_BLOCKED'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
      details: {
        /**
         * @description What blocks.
         *     - `self_exclusion`: the person is excluded at its own wish, as this player or another with the same CPF
         *     - `daily_limit`: the day's deposits would pass, or have passed, the limit that the player set
         *     - `sandbox_trigger`: the reserved game `sandbox-rg-blocked` was opened; only in the sandbox
         * @enum {string}
         */
        reason: 'self_exclusion' | 'daily_limit' | 'sandbox_trigger'
      } & {
        [key: string]: unknown
      }
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: The player's `status` is not `ativo`.
     *
     *     Cure: Tell the player. Only our team changes the status. Withdrawals are still possible.
     */
    PlayerNotActiveError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'PLAYER_NOT_ACTIVE'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
      details: {
        status: components['schemas']['PlayerStatus']
      } & {
        [key: string]: unknown
      }
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: You created this deposit before, perhaps under another Idempotency-Key.
     *
     *     Cure: Go on with `details.depositId`.
     */
    DepositAlreadyExistsError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'DEPOSIT_ALREADY_EXISTS'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
      details: {
        /** @description The deposit that has the `externalReference`. */
        depositId: string
      } & {
        [key: string]: unknown
      }
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: Deposits and withdrawals are in the currency of the player.
     *
     *     Cure: Send `details.expected`, with a new Idempotency-Key.
     */
    CurrencyMismatchError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'CURRENCY_MISMATCH'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
      details: {
        /** @description The currency of the player. */
        expected: string
        /** @description Yours. */
        received: string
      } & {
        [key: string]: unknown
      }
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: The id is wrong, is your own reference, or belongs to the other environment.
     *
     *     Cure: Use the `id` that the creation answered. If you lost it, create it again with the same `externalReference`: the refusal names it.
     */
    DepositNotFoundError: {
      /** @enum {string} */
      code: 'DEPOSIT_NOT_FOUND'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: It was confirmed or failed before.
     *
     *     Cure: Read `details.status`. If you wanted just that, it is done. If not, talk to us: it cannot be undone here.
     */
    DepositNotPendingError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'DEPOSIT_NOT_PENDING'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
      details: {
        /** @description The deposit. */
        depositId: string
        status: components['schemas']['DepositStatus']
      } & {
        [key: string]: unknown
      }
    } & {
      [key: string]: unknown
    }
    /** @description A player's balance. */
    Wallet: {
      /** @description The player. */
      playerId: string
      /** @description Currency of the amounts (ISO 4217). */
      currency: string
      /** @description The real balance. */
      available: string
      /** @description `available` minus withdrawals that are `under_review` or `approved`. */
      withdrawable: string
      /**
       * Format: date-time
       * @description When `available` or `withdrawable` last changed.
       */
      updatedAt: string
    }
    LedgerPage: {
      /** @description Most recent first. */
      data: components['schemas']['LedgerItem'][]
      /** @description Opaque; null means no more pages. */
      nextCursor: string | null
    }
    /** @description One entry of the ledger (extrato). Entries never change. */
    LedgerItem: {
      /** @description The entry; begins with `led_`. */
      id: string
      type: components['schemas']['LedgerType']
      /** @description Signed: the items sum to `available`. */
      amount: string
      /** @description Currency of the amounts (ISO 4217). */
      currency: string
      /** @description `available` after this entry. */
      balanceAfter: string
      /** @description What the entry belongs to. */
      reference: {
        /** @description What caused the entry: deposit, withdrawal, adjustment or reversal. */
        type: string
        /** @description Id of the deposit or withdrawal; of a correction, our reference. */
        id: string
      }
      /**
       * Format: date-time
       * @description When it was entered.
       */
      createdAt: string
    }
    /**
     * @description Kind of entry.
     *     - `DEPOSIT`: a credit: a deposit was confirmed
     *     - `WITHDRAWAL`: a debit: a withdrawal was paid
     *     - `ADJUSTMENT`: a credit or a debit: a correction by our team
     *     - `REVERSAL`: our team undid an earlier entry, with the opposite sign
     * @enum {string}
     */
    LedgerType: 'DEPOSIT' | 'WITHDRAWAL' | 'ADJUSTMENT' | 'REVERSAL'
    /** @description A game of the catalogue. */
    Game: {
      /** @description The game: the `gameId` of a session. */
      id: string
      /** @description Its name, for players. */
      name: string
      /** @description Who makes it. */
      provider: string
      /** @description Kind of game, for example `slots`. */
      category: string
      /** @description Address of a picture. */
      thumbnailUrl: string
      /** @description Return to player in percent, as a decimal string. */
      rtp: string
      /** @description Whether the game can be opened as a demonstration. */
      demo: boolean
    }
    GameSessionRequest: {
      /** @description A game of the catalogue. */
      gameId: string
    }
    GameSession: {
      /** @description The session. */
      id: string
      /** @description The player. */
      playerId: string
      /** @description The game. */
      gameId: string
      /**
       * @description What is played for.
       *     - `demo`: a fictitious balance; always so in the sandbox
       *     - `real`: money
       * @enum {string}
       */
      mode: 'demo' | 'real'
      /** @description To be opened in the player's browser, for example in an iframe. It carries a token: do not log it. */
      gameUrl: string
      /**
       * Format: date-time
       * @description Until when `gameUrl` can be opened.
       */
      expiresAt: string
    }
    /**
     * @description Cause: The player's `kycStatus` is not `aprovado`.
     *
     *     Cure: Submit a document, and try again after `kyc.status_changed` says `aprovado`.
     */
    KycNotApprovedError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'KYC_NOT_APPROVED'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
      details: {
        kycStatus: components['schemas']['KycStatus']
      } & {
        [key: string]: unknown
      }
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: The game was never in your catalogue, or was taken out of it.
     *
     *     Cure: Read the catalogue again, and offer what it has.
     */
    GameNotFoundError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'GAME_NOT_FOUND'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: The game provider does not answer.
     *
     *     Cure: Try again after `Retry-After`, or offer another game.
     */
    ProviderUnavailableError: {
      /** @enum {string} */
      code: 'PROVIDER_UNAVAILABLE'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
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
    /** @description A request to pay a player out, which our team reviews and pays. */
    Withdrawal: {
      /** @description The withdrawal. */
      id: string
      /** @description The player who is paid. */
      playerId: string
      /** @description What is paid out. */
      amount: string
      /** @description Currency of the amount (ISO 4217). */
      currency: string
      /** @description Your payment-method label. */
      method: string
      /** @description Where it is paid to. */
      destination: string
      status: components['schemas']['WithdrawalStatus']
      /** @description Why it has this status, if somebody said. */
      reason: string | null
      /**
       * Format: date-time
       * @description When you requested it.
       */
      createdAt: string
      /**
       * Format: date-time
       * @description When its status last changed.
       */
      updatedAt: string
      /**
       * Format: date-time
       * @description When the team approved or rejected it; null until then.
       */
      reviewedAt: string | null
      /**
       * Format: date-time
       * @description When it was paid; null unless it was.
       */
      paidAt: string | null
    }
    /**
     * @description Status of the withdrawal.
     *     - `under_review`: waits for the team, and can be cancelled; `withdrawable` is reduced, `available` is not
     *     - `approved`: approved, and waits to be paid; it cannot be cancelled any more
     *     - `paid`: paid; only now `available` is reduced
     *     - `rejected`: refused by the team; the amount is withdrawable again
     *     - `cancelled`: cancelled by you; the amount is withdrawable again
     *     - `failed`: the payment failed; the amount is withdrawable again
     * @enum {string}
     */
    WithdrawalStatus: 'under_review' | 'approved' | 'paid' | 'rejected' | 'cancelled' | 'failed'
    /**
     * @description Cause: The amount is above `withdrawable`: open withdrawals count.
     *
     *     Cure: Read the wallet, and offer what it has.
     */
    InsufficientFundsError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'INSUFFICIENT_FUNDS'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: The id is wrong, or belongs to the other environment.
     *
     *     Cure: Use the `id` that the request answered. If you lost it, find it in the events `withdrawal.status_changed`. Within 24 hours of the first request you may also repeat it with its Idempotency-Key; later that would be a second withdrawal, so talk to us.
     */
    WithdrawalNotFoundError: {
      /** @enum {string} */
      code: 'WITHDRAWAL_NOT_FOUND'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: The team has decided, or you cancelled it before.
     *
     *     Cure: Read `details.status`, and show it to the player.
     */
    WithdrawalNotCancellableError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'WITHDRAWAL_NOT_CANCELLABLE'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
      details: {
        /** @description The withdrawal. */
        withdrawalId: string
        status: components['schemas']['WithdrawalStatus']
      } & {
        [key: string]: unknown
      }
    } & {
      [key: string]: unknown
    }
    WebhookTestResult: {
      /** @description Id of the test event: its `X-Webhook-Id`. */
      eventId: string
      /** @description Whether the receiver answered 2xx. */
      delivered: boolean
      /** @description Status that it answered; null if it did not answer. */
      responseStatus: number | null
      /** @description How long the attempt took, in milliseconds. */
      durationMs: number
      /** @description What went wrong, in plain words; null if nothing did. */
      error: string | null
    }
    /**
     * @description Cause: You have not given us the URL of this environment, or it was disabled.
     *
     *     Cure: Ask our team to set it.
     */
    WebhookNotConfiguredError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'WEBHOOK_NOT_CONFIGURED'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
    }
    WithdrawalDecisionRequest: {
      /**
       * @description What the team would decide.
       *     - `approve`: `under_review` becomes `approved`
       *     - `reject`: `under_review` becomes `rejected`
       *     - `pay`: `approved` becomes `paid`, or `failed` for an amount of exactly 13.13
       * @enum {string}
       */
      decision: 'approve' | 'reject' | 'pay'
      /** @description Why; shown with the record. */
      reason?: string
    }
    /**
     * @description Cause: A sandbox route was called with a production key.
     *
     *     Cure: In production our team decides: wait for the webhook.
     */
    SandboxOnlyError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'SANDBOX_ONLY'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
    }
    /**
     * @description Cause: Sandbox decisions go in order: `approve` or `reject` what is under review, `pay` what is approved.
     *
     *     Cure: Read `details.status`, and decide what comes next.
     */
    WithdrawalInvalidStateError: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      code: 'WITHDRAWAL_INVALID_STATE'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
      details: {
        /** @description The withdrawal. */
        withdrawalId: string
        status: components['schemas']['WithdrawalStatus']
      } & {
        [key: string]: unknown
      }
    } & {
      [key: string]: unknown
    }
    KycDecisionRequest: {
      status: components['schemas']['KycDecision']
      /** @description Why; shown with the record. */
      reason?: string
    }
    /**
     * @description The decided status.
     *     - `pendente`: pending; set by the team while something is still missing
     *     - `em_analise`: in review; a document was submitted, and the team decides
     *     - `documento_solicitado`: the team asks for another document; submit one
     *     - `aprovado`: approved; withdrawals and game sessions are possible
     *     - `reprovado`: refused; `reason` says why; a new submission begins a new review
     *     - `expirado`: expired; the approval has ended, by its term or by a decision; submit a document again
     * @enum {string}
     */
    KycDecision: 'pendente' | 'em_analise' | 'documento_solicitado' | 'aprovado' | 'reprovado' | 'expirado'
    /** @description A player's identity check after a decision. */
    KycChange: {
      /** @description The player. */
      playerId: string
      kycStatus: components['schemas']['KycStatus']
      /** @description The latest one, if there is any. `GET /players/{playerId}/kyc` has those before it. */
      submissions: components['schemas']['KycSubmission'][]
      /**
       * Format: date-time
       * @description When the team last decided; null before the first decision.
       */
      decidedAt: string | null
      /** @description Why it decided so, if it said; for you to act on. */
      reason: string | null
    }
    /**
     * @description Cause: The headers are larger than 16 KiB, for example by cookies of a proxy.
     *
     *     Cure: Send what the reference names, and nothing else.
     */
    HeadersTooLargeError: {
      /** @enum {string} */
      code: 'HEADERS_TOO_LARGE'
      /** @description For people; may change. */
      message: string
      /** @description The same as X-Request-Id. */
      requestId: string
    } & {
      [key: string]: unknown
    }
    KycStatusChangedEvent: {
      /** @description The event: equal to `X-Webhook-Id`. Drop an event that you have already seen. */
      id: string
      /**
       * @description Kind of event. Acknowledge and ignore kinds that you do not know.
       * @constant
       */
      type: 'kyc.status_changed'
      /** @description Version of the API that sends it. */
      apiVersion: string
      /**
       * @description Where the record belongs.
       *     - `sandbox`: the test brand, with invented people and fictitious money
       *     - `production`: the real brand
       * @enum {string}
       */
      environment: 'sandbox' | 'production'
      /** @description You, the operator. */
      operatorId: string
      /** @description The brand that the record belongs to. */
      brandId: string
      /**
       * Format: date-time
       * @description When it happened.
       */
      createdAt: string
      data: {
        /** @description The player. */
        playerId: string
        kycStatus: components['schemas']['KycStatus']
        /** @description The latest one, if there is any. `GET /players/{playerId}/kyc` has those before it. */
        submissions: components['schemas']['KycSubmission'][]
        /**
         * Format: date-time
         * @description When the team last decided; null before the first decision.
         */
        decidedAt: string | null
        /** @description Why it decided so, if it said; for you to act on. */
        reason: string | null
        /** @description The status before. */
        previousStatus: components['schemas']['KycStatus']
        /** @description Rises per record; drop an event older than one you have. */
        version: number
      }
    }
    DepositConfirmedEvent: {
      /** @description The event: equal to `X-Webhook-Id`. Drop an event that you have already seen. */
      id: string
      /**
       * @description Kind of event. Acknowledge and ignore kinds that you do not know.
       * @constant
       */
      type: 'deposit.confirmed'
      /** @description Version of the API that sends it. */
      apiVersion: string
      /**
       * @description Where the record belongs.
       *     - `sandbox`: the test brand, with invented people and fictitious money
       *     - `production`: the real brand
       * @enum {string}
       */
      environment: 'sandbox' | 'production'
      /** @description You, the operator. */
      operatorId: string
      /** @description The brand that the record belongs to. */
      brandId: string
      /**
       * Format: date-time
       * @description When it happened.
       */
      createdAt: string
      data: {
        /** @description The deposit. */
        id: string
        /** @description The player whose wallet it credits. */
        playerId: string
        /** @description What the wallet is credited with on confirm. */
        amount: string
        /** @description Currency of the amount (ISO 4217). */
        currency: string
        /** @description Your payment-method label. */
        method: string
        /** @description Your payment reference. */
        externalReference: string
        status: components['schemas']['DepositStatus']
        /** @description Why it failed, if somebody said. */
        failureReason: string | null
        /**
         * Format: date-time
         * @description When you created it.
         */
        createdAt: string
        /**
         * Format: date-time
         * @description When it was confirmed; null until then.
         */
        confirmedAt: string | null
        /**
         * Format: date-time
         * @description When it failed; null unless it did.
         */
        failedAt: string | null
        /** @description The status before. */
        previousStatus: components['schemas']['DepositStatus']
        /** @description Rises per record; drop an event older than one you have. */
        version: number
      }
    }
    WithdrawalStatusChangedEvent: {
      /** @description The event: equal to `X-Webhook-Id`. Drop an event that you have already seen. */
      id: string
      /**
       * @description Kind of event. Acknowledge and ignore kinds that you do not know.
       * @constant
       */
      type: 'withdrawal.status_changed'
      /** @description Version of the API that sends it. */
      apiVersion: string
      /**
       * @description Where the record belongs.
       *     - `sandbox`: the test brand, with invented people and fictitious money
       *     - `production`: the real brand
       * @enum {string}
       */
      environment: 'sandbox' | 'production'
      /** @description You, the operator. */
      operatorId: string
      /** @description The brand that the record belongs to. */
      brandId: string
      /**
       * Format: date-time
       * @description When it happened.
       */
      createdAt: string
      data: {
        /** @description The withdrawal. */
        id: string
        /** @description The player who is paid. */
        playerId: string
        /** @description What is paid out. */
        amount: string
        /** @description Currency of the amount (ISO 4217). */
        currency: string
        /** @description Your payment-method label. */
        method: string
        /** @description Where it is paid to. */
        destination: string
        status: components['schemas']['WithdrawalStatus']
        /** @description Why it has this status, if somebody said. */
        reason: string | null
        /**
         * Format: date-time
         * @description When you requested it.
         */
        createdAt: string
        /**
         * Format: date-time
         * @description When its status last changed.
         */
        updatedAt: string
        /**
         * Format: date-time
         * @description When the team approved or rejected it; null until then.
         */
        reviewedAt: string | null
        /**
         * Format: date-time
         * @description When it was paid; null unless it was.
         */
        paidAt: string | null
        /** @description The status before. */
        previousStatus: components['schemas']['WithdrawalStatus']
        /** @description Rises per record; drop an event older than one you have. */
        version: number
      }
    }
    WebhookTestEvent: {
      /** @description The event: equal to `X-Webhook-Id`. Drop an event that you have already seen. */
      id: string
      /**
       * @description Kind of event. Acknowledge and ignore kinds that you do not know.
       * @constant
       */
      type: 'webhook.test'
      /** @description Version of the API that sends it. */
      apiVersion: string
      /**
       * @description Where the record belongs.
       *     - `sandbox`: the test brand, with invented people and fictitious money
       *     - `production`: the real brand
       * @enum {string}
       */
      environment: 'sandbox' | 'production'
      /** @description You, the operator. */
      operatorId: string
      /** @description The brand that the record belongs to. */
      brandId: string
      /**
       * Format: date-time
       * @description When it happened.
       */
      createdAt: string
      data: {
        /** @description A greeting. */
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
        /** @description The string that we built from your request and signed. */
        canonicalString: string
        /** @description A page that compares it with yours. It sends nothing to anybody. */
        compareAt?: string
      }
      /** @description X-Timestamp must be epoch seconds within 5 minutes of the server clock. */
      TIMESTAMP_OUT_OF_RANGE?: {
        /** @description Our clock, in epoch seconds. */
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
        /** @description Status of the identity check (KYC). */
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
        /** @description Account status of the player, as it is now. Deposits and play need `ativo`; withdrawals do not depend on it. `suspenso`, `bloqueado`, `encerrado` and `restrito` refuse the same, and differ in why. */
        status: 'ativo' | 'suspenso' | 'bloqueado' | 'autoexcluido' | 'encerrado' | 'restrito'
      }
      /** @description Refused by the player's self-exclusion or daily limit. */
      RG_BLOCKED: {
        /** @description What blocks. */
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
        /**
         * @description The signature was accepted before, for another request.
         * @constant
         */
        signature: 'used'
      }
      /** @description The first request with this Idempotency-Key is still running; wait and retry. */
      IDEMPOTENCY_IN_PROGRESS?: unknown
      /** @description A player with this externalId already exists in the brand. */
      PLAYER_ALREADY_EXISTS: {
        /** @description The player that has the `externalId`. */
        playerId: string
      }
      /** @description The identity check of this player is already approved. */
      KYC_ALREADY_APPROVED?: unknown
      /** @description A deposit with this externalReference already exists. */
      DEPOSIT_ALREADY_EXISTS: {
        /** @description The deposit that has the `externalReference`. */
        depositId: string
      }
      /** @description The deposit is no longer pending. */
      DEPOSIT_NOT_PENDING: {
        /** @description The deposit. */
        depositId: string
        /** @description Status of the deposit. */
        status: 'pending' | 'confirmed' | 'failed'
      }
      /** @description The withdrawal is no longer under review. */
      WITHDRAWAL_NOT_CANCELLABLE: {
        /** @description The withdrawal. */
        withdrawalId: string
        /** @description Status of the withdrawal. */
        status: 'under_review' | 'approved' | 'paid' | 'rejected' | 'cancelled' | 'failed'
      }
      /** @description The status of the withdrawal does not allow this decision. */
      WITHDRAWAL_INVALID_STATE: {
        /** @description The withdrawal. */
        withdrawalId: string
        /** @description Status of the withdrawal. */
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
        /** @description Which part of the request is not valid. */
        in: 'body' | 'query' | 'path' | 'headers'
        /** @description What is wrong, a place each. */
        issues: {
          /** @description JSON pointer to the value; empty for the whole part. */
          path: string
          /** @description What is wrong with it, in plain words. It may change. */
          message: string
        }[]
      }
      /** @description The currency differs from the currency of the player. */
      CURRENCY_MISMATCH: {
        /** @description The currency of the player. */
        expected: string
        /** @description Yours. */
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
    /**
     * @description Where the documentation explains the error (RFC 8288); relative to the address that you called.
     * @example </api/v1/docs#error-player-not-found>; rel="help"
     */
    Link: string
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['InvalidCredentialsError']
              | components['schemas']['TimestampOutOfRangeError']
              | components['schemas']['InvalidSignatureError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['OperatorSuspendedError'] | components['schemas']['ForbiddenIpError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ValidationError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['RateLimitedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ServiceUnavailableError']
          } & {
            [key: string]: unknown
          }
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
            /** @description The player, or nobody. */
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['InvalidCredentialsError']
              | components['schemas']['TimestampOutOfRangeError']
              | components['schemas']['InvalidSignatureError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['OperatorSuspendedError'] | components['schemas']['ForbiddenIpError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ValidationError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['RateLimitedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ServiceUnavailableError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['IdempotencyKeyRequiredError']
          } & {
            [key: string]: unknown
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['InvalidCredentialsError']
              | components['schemas']['TimestampOutOfRangeError']
              | components['schemas']['InvalidSignatureError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['OperatorSuspendedError'] | components['schemas']['ForbiddenIpError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['IdempotencyConflictError']
              | components['schemas']['IdempotencyInProgressError']
              | components['schemas']['PlayerAlreadyExistsError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['PayloadTooLargeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['UnsupportedMediaTypeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ValidationError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['RateLimitedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ServiceUnavailableError']
          } & {
            [key: string]: unknown
          }
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
         * @description Id of the player, as we gave it.
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['InvalidCredentialsError']
              | components['schemas']['TimestampOutOfRangeError']
              | components['schemas']['InvalidSignatureError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['OperatorSuspendedError'] | components['schemas']['ForbiddenIpError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `PLAYER_NOT_FOUND`: There is no such player in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['PlayerNotFoundError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ValidationError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['RateLimitedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ServiceUnavailableError']
          } & {
            [key: string]: unknown
          }
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
         * @description Id of the player, as we gave it.
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['IdempotencyKeyRequiredError']
          } & {
            [key: string]: unknown
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['InvalidCredentialsError']
              | components['schemas']['TimestampOutOfRangeError']
              | components['schemas']['InvalidSignatureError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['OperatorSuspendedError'] | components['schemas']['ForbiddenIpError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `PLAYER_NOT_FOUND`: There is no such player in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['PlayerNotFoundError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['IdempotencyConflictError']
              | components['schemas']['IdempotencyInProgressError']
              | components['schemas']['KycAlreadyApprovedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['PayloadTooLargeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['UnsupportedMediaTypeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ValidationError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['RateLimitedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ServiceUnavailableError']
          } & {
            [key: string]: unknown
          }
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
         * @description Id of the player, as we gave it.
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['IdempotencyKeyRequiredError']
          } & {
            [key: string]: unknown
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['InvalidCredentialsError']
              | components['schemas']['TimestampOutOfRangeError']
              | components['schemas']['InvalidSignatureError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['OperatorSuspendedError']
              | components['schemas']['ForbiddenIpError']
              | components['schemas']['RgBlockedError']
              | components['schemas']['PlayerNotActiveError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `PLAYER_NOT_FOUND`: There is no such player in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['PlayerNotFoundError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['IdempotencyConflictError']
              | components['schemas']['IdempotencyInProgressError']
              | components['schemas']['DepositAlreadyExistsError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['PayloadTooLargeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['UnsupportedMediaTypeError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ValidationError'] | components['schemas']['CurrencyMismatchError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['RateLimitedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ServiceUnavailableError']
          } & {
            [key: string]: unknown
          }
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
         * @description Id of the deposit.
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['IdempotencyKeyRequiredError']
          } & {
            [key: string]: unknown
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['InvalidCredentialsError']
              | components['schemas']['TimestampOutOfRangeError']
              | components['schemas']['InvalidSignatureError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['OperatorSuspendedError'] | components['schemas']['ForbiddenIpError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `DEPOSIT_NOT_FOUND`: There is no such deposit in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['DepositNotFoundError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['IdempotencyConflictError']
              | components['schemas']['IdempotencyInProgressError']
              | components['schemas']['DepositNotPendingError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['PayloadTooLargeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['UnsupportedMediaTypeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ValidationError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['RateLimitedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ServiceUnavailableError']
          } & {
            [key: string]: unknown
          }
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
         * @description Id of the deposit.
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
          /** @description Why; shown with the record. */
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['IdempotencyKeyRequiredError']
          } & {
            [key: string]: unknown
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['InvalidCredentialsError']
              | components['schemas']['TimestampOutOfRangeError']
              | components['schemas']['InvalidSignatureError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['OperatorSuspendedError'] | components['schemas']['ForbiddenIpError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `DEPOSIT_NOT_FOUND`: There is no such deposit in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['DepositNotFoundError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['IdempotencyConflictError']
              | components['schemas']['IdempotencyInProgressError']
              | components['schemas']['DepositNotPendingError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['PayloadTooLargeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['UnsupportedMediaTypeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ValidationError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['RateLimitedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ServiceUnavailableError']
          } & {
            [key: string]: unknown
          }
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
         * @description Id of the player, as we gave it.
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['InvalidCredentialsError']
              | components['schemas']['TimestampOutOfRangeError']
              | components['schemas']['InvalidSignatureError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['OperatorSuspendedError'] | components['schemas']['ForbiddenIpError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `PLAYER_NOT_FOUND`: There is no such player in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['PlayerNotFoundError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ValidationError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['RateLimitedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ServiceUnavailableError']
          } & {
            [key: string]: unknown
          }
        }
      }
    }
  }
  listTransactions: {
    parameters: {
      query?: {
        /**
         * @description Entries on a page.
         * @example 50
         */
        limit?: number
        /** @description Opaque, from the previous page. */
        cursor?: string
      }
      header?: never
      path: {
        /**
         * @description Id of the player, as we gave it.
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['InvalidCredentialsError']
              | components['schemas']['TimestampOutOfRangeError']
              | components['schemas']['InvalidSignatureError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['OperatorSuspendedError'] | components['schemas']['ForbiddenIpError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `PLAYER_NOT_FOUND`: There is no such player in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['PlayerNotFoundError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ValidationError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['RateLimitedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ServiceUnavailableError']
          } & {
            [key: string]: unknown
          }
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
            /** @description The games that your players may open. */
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['InvalidCredentialsError']
              | components['schemas']['TimestampOutOfRangeError']
              | components['schemas']['InvalidSignatureError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['OperatorSuspendedError'] | components['schemas']['ForbiddenIpError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ValidationError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['RateLimitedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ServiceUnavailableError']
          } & {
            [key: string]: unknown
          }
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
         * @description Id of the player, as we gave it.
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['InvalidCredentialsError']
              | components['schemas']['TimestampOutOfRangeError']
              | components['schemas']['InvalidSignatureError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['OperatorSuspendedError']
              | components['schemas']['ForbiddenIpError']
              | components['schemas']['RgBlockedError']
              | components['schemas']['PlayerNotActiveError']
              | components['schemas']['KycNotApprovedError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['PlayerNotFoundError'] | components['schemas']['GameNotFoundError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `IDEMPOTENCY_CONFLICT`: This Idempotency-Key was used with another method, path or body. */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['IdempotencyConflictError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['PayloadTooLargeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['UnsupportedMediaTypeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ValidationError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['RateLimitedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `PROVIDER_UNAVAILABLE`: An upstream provider is unavailable. */
      502: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ProviderUnavailableError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ServiceUnavailableError']
          } & {
            [key: string]: unknown
          }
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
         * @description Id of the player, as we gave it.
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['IdempotencyKeyRequiredError']
          } & {
            [key: string]: unknown
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['InvalidCredentialsError']
              | components['schemas']['TimestampOutOfRangeError']
              | components['schemas']['InvalidSignatureError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['OperatorSuspendedError']
              | components['schemas']['ForbiddenIpError']
              | components['schemas']['KycNotApprovedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `PLAYER_NOT_FOUND`: There is no such player in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['PlayerNotFoundError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['IdempotencyConflictError']
              | components['schemas']['IdempotencyInProgressError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['PayloadTooLargeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['UnsupportedMediaTypeError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['ValidationError']
              | components['schemas']['CurrencyMismatchError']
              | components['schemas']['InsufficientFundsError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['RateLimitedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ServiceUnavailableError']
          } & {
            [key: string]: unknown
          }
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
         * @description Id of the withdrawal.
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['InvalidCredentialsError']
              | components['schemas']['TimestampOutOfRangeError']
              | components['schemas']['InvalidSignatureError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['OperatorSuspendedError'] | components['schemas']['ForbiddenIpError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `WITHDRAWAL_NOT_FOUND`: There is no such withdrawal in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['WithdrawalNotFoundError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ValidationError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['RateLimitedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ServiceUnavailableError']
          } & {
            [key: string]: unknown
          }
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
         * @description Id of the withdrawal.
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['IdempotencyKeyRequiredError']
          } & {
            [key: string]: unknown
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['InvalidCredentialsError']
              | components['schemas']['TimestampOutOfRangeError']
              | components['schemas']['InvalidSignatureError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['OperatorSuspendedError'] | components['schemas']['ForbiddenIpError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `WITHDRAWAL_NOT_FOUND`: There is no such withdrawal in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['WithdrawalNotFoundError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['IdempotencyConflictError']
              | components['schemas']['IdempotencyInProgressError']
              | components['schemas']['WithdrawalNotCancellableError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['PayloadTooLargeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['UnsupportedMediaTypeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ValidationError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['RateLimitedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ServiceUnavailableError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['InvalidCredentialsError']
              | components['schemas']['TimestampOutOfRangeError']
              | components['schemas']['InvalidSignatureError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['OperatorSuspendedError'] | components['schemas']['ForbiddenIpError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['IdempotencyConflictError']
              | components['schemas']['WebhookNotConfiguredError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['PayloadTooLargeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['UnsupportedMediaTypeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ValidationError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['RateLimitedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ServiceUnavailableError']
          } & {
            [key: string]: unknown
          }
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
         * @description Id of the withdrawal.
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['InvalidCredentialsError']
              | components['schemas']['TimestampOutOfRangeError']
              | components['schemas']['InvalidSignatureError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['OperatorSuspendedError']
              | components['schemas']['ForbiddenIpError']
              | components['schemas']['SandboxOnlyError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `WITHDRAWAL_NOT_FOUND`: There is no such withdrawal in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['WithdrawalNotFoundError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['IdempotencyConflictError']
              | components['schemas']['WithdrawalInvalidStateError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['PayloadTooLargeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['UnsupportedMediaTypeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ValidationError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['RateLimitedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ServiceUnavailableError']
          } & {
            [key: string]: unknown
          }
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
         * @description Id of the player, as we gave it.
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['InvalidCredentialsError']
              | components['schemas']['TimestampOutOfRangeError']
              | components['schemas']['InvalidSignatureError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error:
              | components['schemas']['OperatorSuspendedError']
              | components['schemas']['ForbiddenIpError']
              | components['schemas']['SandboxOnlyError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `PLAYER_NOT_FOUND`: There is no such player in this brand. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['PlayerNotFoundError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `IDEMPOTENCY_CONFLICT`: This Idempotency-Key was used with another method, path or body. */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['IdempotencyConflictError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 64 KiB. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['PayloadTooLargeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body must be application/json. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['UnsupportedMediaTypeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `VALIDATION_ERROR`: The request is not valid. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ValidationError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `RATE_LIMITED`: Too many requests; retry after the seconds in Retry-After. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['RateLimitedError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE`: Temporarily unavailable. The outcome is unknown: retry with the SAME Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['ServiceUnavailableError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['HeadersTooLargeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['HeadersTooLargeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['HeadersTooLargeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['HeadersTooLargeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['HeadersTooLargeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
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
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['HeadersTooLargeError']
          } & {
            [key: string]: unknown
          }
        }
      }
      /** @description `INTERNAL_ERROR`: Internal failure. The outcome is unknown: retry with the SAME Idempotency-Key. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          Link: components['headers']['Link']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            error: components['schemas']['InternalError']
          } & {
            [key: string]: unknown
          }
        }
      }
    }
  }
  webhook_kyc_status_changed: {
    parameters: {
      query?: never
      header: {
        /** @description Id of the event: equal to `id` in the body. Only the body is signed, so drop duplicates by the `id` in the verified body. */
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
        /** @description Id of the event: equal to `id` in the body. Only the body is signed, so drop duplicates by the `id` in the verified body. */
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
        /** @description Id of the event: equal to `id` in the body. Only the body is signed, so drop duplicates by the `id` in the verified body. */
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
        /** @description Id of the event: equal to `id` in the body. Only the body is signed, so drop duplicates by the `id` in the verified body. */
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
