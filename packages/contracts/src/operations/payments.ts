import { Type } from '@sinclair/typebox'
import { approvedWithdrawal, confirmedDeposit, pendingDeposit, requestedWithdrawal, sample } from '../examples.ts'
import { sumRowsMax } from '../limits.ts'
import { get, internal, operator, post, sandbox, team } from '../operation.ts'
import { personal } from '../personal.ts'
import {
  Amount,
  Currency,
  Deposit,
  DepositRequest,
  DepositStatus,
  EnvironmentName,
  Id,
  KycStatus,
  Money,
  PlayerStatus,
  PublicReason,
  Reason,
  Timestamp,
  Withdrawal,
  WithdrawalDecision,
  WithdrawalRequest,
  WithdrawalStatus,
  waitingStatuses,
} from '../resources.ts'
import { described, Nullable, named, object, oneOf, optional, pageOf, text } from '../schema.ts'
import { everyRole } from '../team.ts'
import {
  cursorField,
  DepositPath,
  operatorNameField,
  orderField,
  ownerFields,
  PlayerPath,
  periodFields,
  playerExport,
  queueOrders,
  queueState,
  seenField,
  WithdrawalPath,
} from './fields.ts'
import { paymentFigures, waitingPeriod } from './figures.ts'
import { paymentFileField, paymentFiles } from './payment-files.ts'
import { playerNameField, sumsOf, TeamDeposit, TeamWithdrawal, Transition, WithdrawalFacts } from './payment-records.ts'
import { SignedCall, service } from './runtime.ts'

/** The body of a request without content. It may be any JSON object; its fields are ignored. */
const AnyObject = Type.Object({}, { additionalProperties: true })

/** Deposits and withdrawals: their states and their review queue. */
export const payments = service('payments', {
  createDeposit: operator.command({
    http: post('/players/{playerId}/deposits', 201),
    idempotency: 'required',
    stores: { bytes: 14_000, rows: 20 },
    tag: 'Deposits',
    summary: 'Create a deposit',
    description:
      'Records a pending deposit. The payment itself is yours to collect; the wallet is credited when you confirm. `externalReference` is unique: repeating it answers 409 with the id of the existing deposit in `details.depositId`.',
    params: PlayerPath,
    body: DepositRequest,
    reply: Deposit,
    rejects: ['PLAYER_NOT_FOUND', 'DEPOSIT_ALREADY_EXISTS', 'CURRENCY_MISMATCH', 'RG_BLOCKED', 'PLAYER_NOT_ACTIVE'],
    example: {
      params: { playerId: sample.playerId },
      body: { amount: '150.00', currency: 'BRL', method: 'pix', externalReference: 'pay-1001' },
      reply: pendingDeposit,
    },
  }),

  confirmDeposit: operator.command({
    http: post('/deposits/{depositId}/confirm'),
    idempotency: 'required',
    stores: 'reserved',
    tag: 'Deposits',
    summary: 'Confirm a deposit',
    description:
      'Credits the wallet, once. Only a pending deposit can be confirmed; a confirmed one cannot be undone here.',
    params: DepositPath,
    body: AnyObject,
    reply: Deposit,
    rejects: ['DEPOSIT_NOT_FOUND', 'DEPOSIT_NOT_PENDING'],
    example: { params: { depositId: sample.depositId }, body: {}, reply: confirmedDeposit },
  }),

  failDeposit: operator.command({
    http: post('/deposits/{depositId}/fail'),
    idempotency: 'required',
    stores: 'reserved',
    tag: 'Deposits',
    summary: 'Mark a deposit as failed',
    description: 'Only a pending deposit can fail; nothing is credited.',
    params: DepositPath,
    body: Type.Object({ reason: Type.Optional(PublicReason) }, { additionalProperties: true }),
    reply: Deposit,
    rejects: ['DEPOSIT_NOT_FOUND', 'DEPOSIT_NOT_PENDING'],
    example: {
      params: { depositId: sample.depositId },
      body: { reason: 'expired' },
      reply: { ...pendingDeposit, status: 'failed', failureReason: 'expired', failedAt: '2026-03-02T12:32:00.000Z' },
    },
  }),

  requestWithdrawal: operator.command({
    http: post('/players/{playerId}/withdrawals', 201),
    idempotency: 'required',
    stores: { bytes: 26_000, rows: 36 },
    tag: 'Withdrawals',
    summary: 'Request a withdrawal',
    description:
      "Needs an approved KYC. The request enters the team's review queue and reduces `withdrawable`; the amount is debited only when it is paid.",
    params: PlayerPath,
    body: WithdrawalRequest,
    reply: Withdrawal,
    rejects: ['PLAYER_NOT_FOUND', 'CURRENCY_MISMATCH', 'KYC_NOT_APPROVED', 'INSUFFICIENT_FUNDS'],
    example: {
      params: { playerId: sample.playerId },
      body: { amount: '40.00', currency: 'BRL', method: 'pix', destination: 'ana@example.com' },
      reply: requestedWithdrawal,
    },
  }),

  getWithdrawal: operator.query({
    http: get('/withdrawals/{withdrawalId}'),
    tag: 'Withdrawals',
    summary: 'Read a withdrawal',
    params: WithdrawalPath,
    reply: Withdrawal,
    rejects: ['WITHDRAWAL_NOT_FOUND'],
    example: { params: { withdrawalId: sample.withdrawalId }, reply: requestedWithdrawal },
  }),

  cancelWithdrawal: operator.command({
    http: post('/withdrawals/{withdrawalId}/cancel'),
    idempotency: 'required',
    stores: 'reserved',
    tag: 'Withdrawals',
    summary: 'Cancel a withdrawal',
    description: 'Only while it is under review.',
    params: WithdrawalPath,
    body: AnyObject,
    reply: Withdrawal,
    rejects: ['WITHDRAWAL_NOT_FOUND', 'WITHDRAWAL_NOT_CANCELLABLE'],
    example: {
      params: { withdrawalId: sample.withdrawalId },
      body: {},
      reply: { ...requestedWithdrawal, status: 'cancelled', updatedAt: '2026-03-02T12:06:00.000Z' },
    },
  }),

  decideWithdrawalInSandbox: sandbox.command({
    http: post('/sandbox/withdrawals/{withdrawalId}/decision'),
    stores: { bytes: 3_000, rows: 2 },
    tag: 'Sandbox',
    summary: "Simulate the team's withdrawal decision",
    params: WithdrawalPath,
    body: named('WithdrawalDecisionRequest', { decision: WithdrawalDecision, reason: Type.Optional(PublicReason) }),
    reply: Withdrawal,
    rejects: ['WITHDRAWAL_NOT_FOUND', 'WITHDRAWAL_INVALID_STATE'],
    example: {
      params: { withdrawalId: sample.withdrawalId },
      body: { decision: 'approve' },
      reply: approvedWithdrawal,
    },
  }),

  /** The deposits of the brand's current calendar day, pending and confirmed: what the daily limit is held against. */
  readDayDeposits: internal.query({
    callers: ['players'],
    summary: "Sum a player's deposits of today",
    params: PlayerPath,
    reply: object({ total: Money }),
  }),

  /** What stands against anonymising a player, beside the balance. */
  readOpenRecords: internal.query({
    callers: ['players'],
    summary: "Count a player's open deposits and withdrawals",
    params: PlayerPath,
    reply: object({
      openDeposits: Type.Integer(),
      openWithdrawals: Type.Integer(),
      lastChangeAt: Nullable(Timestamp, 'Null: the player has neither.'),
    }),
  }),

  /** Replaces where the player's withdrawals were paid to. Once it is done, doing it again changes nothing. */
  forgetDestinations: internal.direct({
    callers: ['players'],
    summary: "Replace the destinations of a player's withdrawals",
    body: object({ playerId: Id }),
    reply: object({ playerId: Id }),
  }),

  exportPlayer: playerExport(),

  showDeposit: team.query({
    roles: ['finance', 'compliance', 'support', 'auditor'],
    summary: 'Show a deposit with its history',
    body: object({ depositId: Id }),
    reply: object({ ...TeamDeposit.properties, transitions: Type.Array(Transition, { maxItems: 10 }) }),
    rejects: ['DEPOSIT_NOT_FOUND'],
  }),

  listDeposits: team.query({
    roles: ['finance', 'compliance', 'support', 'auditor'],
    summary: 'List deposits, newest first',
    body: object({
      brandId: Type.Optional(Id),
      environment: ownerFields.environment,
      playerId: Type.Optional(Id),
      status: Type.Optional(DepositStatus),
      method: Type.Optional(DepositRequest.properties.method),
      ...periodFields('Created', 'a brand'),
      externalReference: optional(
        Type.String({ minLength: 1, maxLength: 128 }),
        'Unique in a brand: several brands may have the same.',
      ),
      before: optional(Id, 'Go on below this deposit.'),
      limit: Type.Integer({ minimum: 1, maximum: 1000 }),
    }),
    reply: pageOf(object({ ...TeamDeposit.properties, ...operatorNameField })),
  }),

  sumDeposits: team.query({
    roles: ['finance', 'compliance', 'support', 'auditor'],
    summary: 'Sum deposits by status and currency',
    description: `Of the newest ${sumRowsMax} of their owner and period; status and method choose among these.`,
    body: object({
      brandId: Type.Optional(Id),
      environment: ownerFields.environment,
      playerId: Type.Optional(Id),
      status: Type.Optional(DepositStatus),
      method: Type.Optional(DepositRequest.properties.method),
      ...periodFields('Created', 'a brand'),
    }),
    reply: sumsOf(DepositStatus),
  }),

  showWithdrawal: team.query({
    roles: ['finance', 'compliance', 'support', 'auditor'],
    summary: 'Show a withdrawal with its history',
    body: object({ withdrawalId: Id }),
    reply: object({
      ...TeamWithdrawal.properties,
      ...operatorNameField,
      playerName: playerNameField,
      facts: WithdrawalFacts,
      balance: Type.Optional(
        Nullable(
          object({
            available: Money,
            withdrawable: Money,
            reserved: described(Money, 'By withdrawals that are `under_review` or `approved`.'),
          }),
          'Null: the wallet did not answer.',
        ),
      ),
      isReserved: Type.Optional(
        Nullable(
          Type.Boolean(),
          'Whether the ledger reserves the amount for it, while it waits for a decision or its payment. Null: the ledger could not be read.',
        ),
      ),
      approval: Type.Optional(
        Nullable(
          SignedCall,
          'The call that approved it, while it waits for its payment: whoever pays verifies it, and believes no reply. Null where nobody of the team did.',
        ),
      ),
      destinationSalt: text(64, {
        description: 'Belongs to the digest of the destination that `decideWithdrawal` wants.',
      }),
      payTakesTwo: Type.Boolean({ description: 'Whoever approves it cannot pay it.' }),
      paymentFile: paymentFileField,
      transitions: Type.Array(Transition, { maxItems: 10 }),
    }),
    rejects: ['WITHDRAWAL_NOT_FOUND'],
  }),

  listWithdrawals: team.query({
    roles: ['finance', 'compliance', 'support', 'auditor'],
    summary: 'List withdrawals, newest first',
    description: 'What waits for the team is in its queue, however old it is.',
    body: object({
      ...ownerFields,
      playerId: Type.Optional(Id),
      status: Type.Optional(WithdrawalStatus),
      ...periodFields('Requested', 'an operator'),
      before: cursorField,
      limit: Type.Integer({ minimum: 1, maximum: 1000 }),
    }),
    reply: pageOf(object({ ...TeamWithdrawal.properties, ...operatorNameField })),
  }),

  sumWithdrawals: team.query({
    roles: ['finance', 'compliance', 'support', 'auditor'],
    summary: 'Sum withdrawals by status and currency',
    description: `Of the newest ${sumRowsMax} of their owner and period; the status chooses among these.`,
    body: object({
      ...ownerFields,
      playerId: Type.Optional(Id),
      status: Type.Optional(WithdrawalStatus),
      ...periodFields('Requested', 'an operator'),
      queue: optional(
        oneOf(waitingStatuses),
        `Those that wait in this queue instead, the ${sumRowsMax} that wait longest.`,
      ),
    }),
    reply: sumsOf(WithdrawalStatus),
  }),

  withdrawalQueue: team.query({
    roles: ['finance', 'compliance', 'support', 'auditor'],
    summary: 'List the withdrawals that wait for the team, oldest first unless another order is asked for',
    description:
      '`under_review` waits for a decision (the default), `approved` for its payment. What was decided and only waits for the wallet is in the list of all.',
    body: object({
      ...ownerFields,
      status: Type.Optional(oneOf(waitingStatuses)),
      payable: optional(Type.Boolean(), 'Without what the caller approved, above what one person may pay alone.'),
      ...waitingPeriod,
      withoutFile: optional(Type.Boolean(), 'Leave out those that are in a file for the bank.'),
      order: orderField(queueOrders),
      after: optional(Id, 'Go on after this withdrawal.'),
      limit: Type.Integer({ minimum: 1, maximum: 200 }),
    }),
    reply: pageOf(
      object({
        ...TeamWithdrawal.properties,
        ...operatorNameField,
        playerName: playerNameField,
        facts: WithdrawalFacts,
        paymentFile: paymentFileField,
        playerStatus: PlayerStatus,
        kycStatus: KycStatus,
        available: Money,
        withdrawable: Money,
      }),
    ),
    timeoutMs: 10_000,
  }),

  countWithdrawalQueue: team.query({
    roles: everyRole,
    summary: 'Count the withdrawals that wait for a decision, and those that wait for their payment',
    body: object({ environment: ownerFields.environment }),
    reply: queueState({ status: oneOf(waitingStatuses) }),
  }),

  ...paymentFigures,
  ...paymentFiles,

  /** In production, approving and paying a withdrawal takes two people, above an amount that the settings name. */
  decideWithdrawal: team.command({
    roles: ['finance'],
    freshLogin: { when: { decision: 'pay' } },
    summary: 'Approve, reject, pay or fail a withdrawal',
    description:
      'The call says what its person has seen: player, amount, currency and a digest of the destination. When the withdrawal is another one, it is refused.',
    body: object({
      withdrawalId: Id,
      playerId: Id,
      amount: Amount,
      currency: Currency,
      destinationDigest: Type.String({
        pattern: '^[\\w-]{43}$',
        description: 'SHA-256 of the JSON text of [destinationSalt, method, destination], in base64url.',
      }),
      decision: oneOf(['approve', 'reject', 'pay', 'fail']),
      reason: optional(PublicReason, 'Why; the operator reads it with the withdrawal.'),
      paymentFile: optional(
        Type.String({ pattern: '^[\\w-]{43}$' }),
        'SHA-256 of the file with which it was paid, in base64url: the trail then says which one.',
      ),
    }),
    reply: TeamWithdrawal,
    rejects: [
      'WITHDRAWAL_NOT_FOUND',
      'NOT_AS_SEEN',
      'WITHDRAWAL_INVALID_STATE',
      'WITHDRAWAL_NOT_RESERVED',
      'TWO_PEOPLE_REQUIRED',
    ],
  }),

  /** Only a credit that the wallet can never do is given up: its deposit fails. In the sandbox as in production. */
  endCommand: team.command({
    roles: ['finance'],
    twoPeople: 'always',
    summary: 'Give up a credit that the wallet can never do: the deposit fails. Takes two people',
    body: object({
      commandId: Id,
      ...seenField({
        depositId: Id,
        playerId: Id,
        environment: EnvironmentName,
        amount: Amount,
        currency: Currency,
      }),
      reason: Reason,
    }),
    reply: object({
      commandId: Id,
      depositId: Id,
      state: Type.Literal('ended'),
      proposedBy: personal('staff', text(254)),
      /** Until then another person could carry it out. */
      expiresAt: Timestamp,
    }),
    rejects: ['COMMAND_NOT_FOUND', 'COMMAND_CANNOT_BE_ENDED', 'NOT_AS_SEEN'],
  }),
})
