import type { Scope } from '@backoffice/contracts'
import type { Sql } from '@backoffice/service-runtime'
import { type EntityManager, LockMode } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import type { StatusTransition } from '../domain/transition.ts'
import { isVisible, type Withdrawal, type WithdrawalState } from '../domain/withdrawal.ts'
import { WithdrawalEntity, type WithdrawalRow } from './entities.ts'
import { recordTransition } from './transitions.ts'

/** A withdrawal that everyone sees, and whom it belongs to. Intents never become one of these: see intents.ts. */
export type WithdrawalRecord = Withdrawal & Scope

/** Reads a withdrawal of a brand and locks its row until the transaction ends. */
export async function lockWithdrawal(
  em: EntityManager,
  key: { readonly id: string; readonly brandId: string },
): Promise<WithdrawalRecord | null> {
  return toVisible(
    await em.findOne(WithdrawalEntity, key, { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true }),
  )
}

export async function findWithdrawal(
  em: EntityManager,
  key: { readonly id: string; readonly brandId?: string },
): Promise<WithdrawalRecord | null> {
  return toVisible(await em.findOne(WithdrawalEntity, key, { disableIdentityMap: true }))
}

/** Writes what a transition changed. */
export async function saveWithdrawal(
  connection: Sql,
  {
    withdrawal,
    ...history
  }: { readonly withdrawal: Withdrawal; readonly transition: StatusTransition; readonly operationId: string },
): Promise<void> {
  const { id, status, reason, version, updatedAt, reviewedAt, paidAt, approvedBy } = withdrawal
  await sql`
    with written as (
      update withdrawal set status = ${status}, reason = ${reason}, version = ${version},
        updated_at = ${updatedAt}::timestamptz, reviewed_at = ${reviewedAt}::timestamptz, paid_at = ${paidAt}::timestamptz,
        approved_by = ${approvedBy}
      where id = ${id} returning id
    ) ${recordTransition(history)}
  `.execute(connection)
}

/** Oldest first: ids are ordered by the time of the request. */
export async function listQueue(
  em: EntityManager,
  filter: {
    readonly status: 'under_review' | 'approved'
    readonly brandId?: string | undefined
    readonly after?: string | undefined
    readonly limit: number
  },
): Promise<WithdrawalRecord[]> {
  const { status, brandId, after, limit } = filter
  const where = {
    status,
    ...(brandId === undefined ? {} : { brandId }),
    ...(after === undefined ? {} : { id: { $gt: after } }),
  }
  const rows = await em.find(WithdrawalEntity, where, { orderBy: { id: 'asc' }, limit, disableIdentityMap: true })
  return rows.flatMap((row) => toVisible(row) ?? [])
}

function toVisible(row: WithdrawalRow | null): WithdrawalRecord | null {
  if (row === null) return null
  const { operationId: _, status, ...rest } = row
  if (!isVisible(status as WithdrawalState)) return null
  return {
    ...rest,
    status: status as Withdrawal['status'],
    reason: row.reason ?? null,
    reviewedAt: row.reviewedAt ?? null,
    paidAt: row.paidAt ?? null,
    approvedBy: row.approvedBy ?? null,
  }
}
