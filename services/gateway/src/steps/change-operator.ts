import type { AuditedChange, OperatorRecord } from '@backoffice/contracts'
import type { ExecuteTools } from '@backoffice/service-runtime'
import type { OperatorTerms } from '../domain/operator.ts'
import { lockOperator, readOperator } from '../storage/operators.ts'
import { showOperator } from '../views/operator.ts'

/**
 * Changes an operator under its lock.
 * @returns the operator as it is afterwards
 * @throws {Rejection} OPERATOR_NOT_FOUND
 */
export async function changeOperator(
  { db, changed: audited }: Pick<ExecuteTools, 'db' | 'changed'>,
  operatorId: string,
  change: (terms: OperatorTerms) => OperatorTerms,
): Promise<OperatorRecord> {
  const operator = await lockOperator(db, operatorId)
  const { rateLimitPerMinute, allowedAddresses, suspendedAt = null, replayProtection } = operator
  const before = { rateLimitPerMinute, allowedAddresses, suspendedAt, replayProtection }
  const changed = change(before)
  audited(...differences(before, changed))
  const em = await db.em()
  em.assign(operator, { ...changed, allowedAddresses: [...changed.allowedAddresses] })
  await db.flush()
  return showOperator(await readOperator(db, { id: operatorId }))
}

/** What became different, for the audit trail. */
function differences(before: OperatorTerms, after: OperatorTerms): AuditedChange[] {
  const fields = Object.keys(before) as (keyof OperatorTerms)[]
  const shown = (value: OperatorTerms[keyof OperatorTerms]) =>
    value === null ? null : value instanceof Date ? value.toISOString() : String(value)
  return fields
    .map((field) => ({ field, before: shown(before[field]), after: shown(after[field]) }))
    .filter((change) => change.before !== change.after)
}
