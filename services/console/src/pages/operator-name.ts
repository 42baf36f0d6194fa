import { operations } from '@backoffice/contracts'
import type { Visit } from './visit.ts'

/** The name of an operator; its id while the gateway, which knows the names, does not answer. */
export async function operatorName({ person }: Visit, operatorId: string): Promise<string> {
  const operator = await person.call(operations.gateway.getOperator, { name: operatorId }).catch(() => undefined)
  return operator?.name ?? operatorId
}
