import type { Sql } from '@backoffice/service-runtime'
import type { EntityManager } from '@mikro-orm/postgresql'
import { beforeLastTransition, isFinal } from '../domain/withdrawal.ts'
import { listTransitions } from './transitions.ts'
import { findUnfinished } from './unfinished.ts'
import { findWithdrawal, type WithdrawalRecord } from './withdrawals.ts'

/** A withdrawal as it may be shown: in its former status until the wallet has released or captured its hold. */
export interface ShownWithdrawal {
  readonly withdrawal: WithdrawalRecord
  readonly settling: boolean
}

export async function findShownWithdrawal(
  { em, sql }: { readonly em: EntityManager; readonly sql: Sql },
  key: { readonly id: string; readonly brandId?: string },
): Promise<ShownWithdrawal | null> {
  const withdrawal = await findWithdrawal(em, key)
  if (withdrawal === null) return null
  // Only a last transition leaves a command behind. The record was read first: a command that is done by now makes the
  // newer state true, while one that was sent since cannot belong to the state that was read.
  if (!isFinal(withdrawal.status) || (await findUnfinished(sql, withdrawal.id)) === null)
    return { withdrawal, settling: false }
  return { withdrawal: beforeLastTransition(withdrawal, await listTransitions(sql, withdrawal.id)), settling: true }
}
