import type { DepositStatus, Environment } from '@backoffice/contracts'
import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { WithdrawalState } from '../domain/withdrawal.ts'

/** The brand a record belongs to: enough to act for it again, without asking the gateway. */
const owner = {
  brandId: p.string(),
  operatorId: p.string(),
  environment: p.string().$type<Environment>(),
  currency: p.string(),
  timeZone: p.string(),
}

export const DepositEntity = defineEntity({
  name: 'Deposit',
  tableName: 'deposit',
  properties: {
    id: p.string().primary(),
    ...owner,
    playerId: p.string(),
    externalReference: p.string(),
    amount: p.bigint(),
    method: p.string(),
    status: p.string().$type<DepositStatus>(),
    failureReason: p.string().nullable(),
    version: p.integer(),
    createdAt: p.datetime(),
    confirmedAt: p.datetime().nullable(),
    failedAt: p.datetime().nullable(),
  },
})
export type DepositRow = InferEntity<typeof DepositEntity>

export const WithdrawalEntity = defineEntity({
  name: 'Withdrawal',
  tableName: 'withdrawal',
  properties: {
    id: p.string().primary(),
    operationId: p.string(),
    ...owner,
    playerId: p.string(),
    amount: p.bigint(),
    method: p.string(),
    destination: p.string(),
    status: p.string().$type<WithdrawalState>(),
    reason: p.string().nullable(),
    version: p.integer(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
    reviewedAt: p.datetime().nullable(),
    paidAt: p.datetime().nullable(),
    approvedBy: p.string().nullable(),
  },
})
export type WithdrawalRow = InferEntity<typeof WithdrawalEntity>

export const entities = [DepositEntity, WithdrawalEntity]
