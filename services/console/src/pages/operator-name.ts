import { operations } from '@backoffice/contracts'
import type { Visit } from './visit.ts'

/** The name of an operator; its id while the gateway, which knows the names, does not answer. */
export async function operatorName({ person }: Visit, operatorId: string): Promise<string> {
  const operator = await person.call(operations.gateway.getOperator, { name: operatorId }).catch(() => undefined)
  return operator?.name ?? operatorId
}

/** The names of the operators of a list's rows, by their ids. */
export async function operatorNames(
  visit: Visit,
  rows: readonly { readonly operatorId: string }[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(rows.map(({ operatorId }) => operatorId))]
  const names = await Promise.all(ids.map((one) => operatorName(visit, one)))
  return new Map(ids.map((one, index) => [one, names[index] ?? one]))
}
