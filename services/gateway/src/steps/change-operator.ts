import type { OperatorRecord } from '@backoffice/contracts'
import type { Db } from '@backoffice/service-runtime'
import type { OperatorTerms } from '../domain/operator.ts'
import { lockOperator, readOperator } from '../storage/operators.ts'
import { showOperator } from '../views/operator.ts'

/**
 * Changes an operator under its lock.
 * @returns the operator as it is afterwards
 * @throws {Rejection} OPERATOR_NOT_FOUND
 */
export async function changeOperator(
  db: Db,
  operatorId: string,
  change: (terms: OperatorTerms) => OperatorTerms,
): Promise<OperatorRecord> {
  const operator = await lockOperator(db, operatorId)
  const { rateLimitPerMinute, allowedAddresses, suspendedAt = null, replayProtection } = operator
  const changed = change({ rateLimitPerMinute, allowedAddresses, suspendedAt, replayProtection })
  const em = await db.em()
  em.assign(operator, { ...changed, allowedAddresses: [...changed.allowedAddresses] })
  await db.flush()
  return showOperator(await readOperator(db, { id: operatorId }))
}
