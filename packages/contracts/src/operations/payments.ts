import { Type } from '@sinclair/typebox'
import { operation } from '../operation.ts'
import { Deposit, DepositRequest, Money, Withdrawal, WithdrawalRequest } from '../resources.ts'
import { DepositPath, PlayerPath, sample, WithdrawalPath } from './paths.ts'

const operator = { service: 'payments', audience: 'operator' } as const
const closed = { additionalProperties: false } as const
/** A transition without content: any JSON object will do, its unknown fields are ignored. */
const AnyObject = Type.Object({}, { additionalProperties: true })

const pendingDeposit = {
  id: sample.depositId,
  playerId: sample.playerId,
  amount: '150.00',
  currency: 'BRL',
  method: 'pix',
  externalReference: 'pay-1001',
  status: 'pending',
  failureReason: null,
  createdAt: '2026-03-02T12:02:00.000Z',
  confirmedAt: null,
  failedAt: null,
}
const openWithdrawal = {
  id: sample.withdrawalId,
  playerId: sample.playerId,
  amount: '40.00',
  currency: 'BRL',
  method: 'pix',
  destination: 'ana@example.com',
  status: 'under_review',
  reason: null,
  createdAt: '2026-03-02T12:05:00.000Z',
  updatedAt: '2026-03-02T12:05:00.000Z',
  reviewedAt: null,
  paidAt: null,
}

export const createDeposit = operation({
  ...operator,
  id: 'createDeposit',
  kind: 'command',
  tag: 'Deposits',
  summary: 'Create a deposit',
  description:
    'Records a pending deposit. The payment itself is yours to collect; the wallet is credited when you confirm. `externalReference` is unique: repeating it answers 409 with the id of the existing deposit in `details.depositId`.',
  http: { method: 'POST', path: '/players/{playerId}/deposits', status: 201 },
  idempotency: 'required',
  params: PlayerPath,
  body: DepositRequest,
  reply: Deposit,
  rejects: ['PLAYER_NOT_FOUND', 'DEPOSIT_ALREADY_EXISTS', 'CURRENCY_MISMATCH', 'RG_BLOCKED', 'PLAYER_NOT_ACTIVE'],
  example: {
    params: { playerId: sample.playerId },
    body: { amount: '150.00', currency: 'BRL', method: 'pix', externalReference: 'pay-1001' },
    reply: pendingDeposit,
  },
})

export const confirmDeposit = operation({
  ...operator,
  id: 'confirmDeposit',
  kind: 'command',
  tag: 'Deposits',
  summary: 'Confirm a deposit',
  description:
    'Credits the wallet, once. Only a pending deposit can be confirmed; a confirmed one cannot be undone here.',
  http: { method: 'POST', path: '/deposits/{depositId}/confirm', status: 200 },
  idempotency: 'required',
  params: DepositPath,
  body: AnyObject,
  reply: Deposit,
  rejects: ['DEPOSIT_NOT_FOUND', 'DEPOSIT_NOT_PENDING'],
  example: {
    params: { depositId: sample.depositId },
    body: {},
    reply: { ...pendingDeposit, status: 'confirmed', confirmedAt: '2026-03-02T12:02:31.400Z' },
  },
})

export const failDeposit = operation({
  ...operator,
  id: 'failDeposit',
  kind: 'command',
  tag: 'Deposits',
  summary: 'Mark a deposit as failed',
  description: 'Only a pending deposit can fail; nothing is credited.',
  http: { method: 'POST', path: '/deposits/{depositId}/fail', status: 200 },
  idempotency: 'required',
  params: DepositPath,
  body: Type.Object(
    { reason: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })) },
    { additionalProperties: true },
  ),
  reply: Deposit,
  rejects: ['DEPOSIT_NOT_FOUND', 'DEPOSIT_NOT_PENDING'],
  example: {
    params: { depositId: sample.depositId },
    body: { reason: 'expired' },
    reply: { ...pendingDeposit, status: 'failed', failureReason: 'expired', failedAt: '2026-03-02T12:32:00.000Z' },
  },
})

export const requestWithdrawal = operation({
  ...operator,
  id: 'requestWithdrawal',
  kind: 'command',
  tag: 'Withdrawals',
  summary: 'Request a withdrawal',
  description:
    "Needs an approved KYC. The request enters the team's review queue and reduces `withdrawable`; the amount is debited only when it is paid.",
  http: { method: 'POST', path: '/players/{playerId}/withdrawals', status: 201 },
  idempotency: 'required',
  params: PlayerPath,
  body: WithdrawalRequest,
  reply: Withdrawal,
  rejects: ['PLAYER_NOT_FOUND', 'CURRENCY_MISMATCH', 'KYC_NOT_APPROVED', 'INSUFFICIENT_FUNDS'],
  example: {
    params: { playerId: sample.playerId },
    body: { amount: '40.00', currency: 'BRL', method: 'pix', destination: 'ana@example.com' },
    reply: openWithdrawal,
  },
})

export const getWithdrawal = operation({
  ...operator,
  id: 'getWithdrawal',
  kind: 'query',
  tag: 'Withdrawals',
  summary: 'Read a withdrawal',
  http: { method: 'GET', path: '/withdrawals/{withdrawalId}', status: 200 },
  params: WithdrawalPath,
  reply: Withdrawal,
  rejects: ['WITHDRAWAL_NOT_FOUND'],
  example: { params: { withdrawalId: sample.withdrawalId }, reply: openWithdrawal },
})

export const cancelWithdrawal = operation({
  ...operator,
  id: 'cancelWithdrawal',
  kind: 'command',
  tag: 'Withdrawals',
  summary: 'Cancel a withdrawal',
  description: 'Only while it is under review.',
  http: { method: 'POST', path: '/withdrawals/{withdrawalId}/cancel', status: 200 },
  idempotency: 'required',
  params: WithdrawalPath,
  body: AnyObject,
  reply: Withdrawal,
  rejects: ['WITHDRAWAL_NOT_FOUND', 'WITHDRAWAL_NOT_CANCELLABLE'],
  example: {
    params: { withdrawalId: sample.withdrawalId },
    body: {},
    reply: { ...openWithdrawal, status: 'cancelled', updatedAt: '2026-03-02T12:06:00.000Z' },
  },
})

export const decideWithdrawalInSandbox = operation({
  service: 'payments',
  audience: 'sandbox',
  id: 'decideWithdrawalInSandbox',
  kind: 'command',
  tag: 'Sandbox',
  summary: "Simulate the team's withdrawal decision",
  http: { method: 'POST', path: '/sandbox/withdrawals/{withdrawalId}/decision', status: 200 },
  params: WithdrawalPath,
  body: Type.Object(
    {
      decision: Type.Union([Type.Literal('approve'), Type.Literal('reject'), Type.Literal('pay')]),
      reason: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
    },
    { ...closed, $id: 'WithdrawalDecisionRequest' },
  ),
  reply: Withdrawal,
  rejects: ['WITHDRAWAL_NOT_FOUND', 'WITHDRAWAL_INVALID_STATE'],
  example: {
    params: { withdrawalId: sample.withdrawalId },
    body: { decision: 'approve' },
    reply: {
      ...openWithdrawal,
      status: 'approved',
      updatedAt: '2026-03-02T12:09:00.000Z',
      reviewedAt: '2026-03-02T12:09:00.000Z',
    },
  },
})

/** The deposits of the brand's current calendar day, pending and confirmed: what the daily limit is held against. */
export const readDayDeposits = operation({
  service: 'payments',
  audience: 'internal',
  id: 'readDayDeposits',
  kind: 'query',
  callers: ['players'],
  summary: "Sum a player's deposits of today",
  params: PlayerPath,
  reply: Type.Object({ total: Money }, closed),
})
