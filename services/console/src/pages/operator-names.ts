import { operations } from '@backoffice/contracts'
import type { Visit } from './visit.ts'

const keptMs = 60_000
/** The most that one page of the list has. */
const operatorsMax = 1_000

let names: ReadonlyMap<string, string> = new Map()
let readAt = Number.NEGATIVE_INFINITY

/** The name of an operator; its id where the name is not known. Names are no secret: everybody of the team may list them. */
export async function operatorNames({ person }: Visit): Promise<(operatorId: string) => string> {
  const { listOperators } = operations.gateway
  if (performance.now() - readAt > keptMs && person.mayCall(listOperators)) {
    // A queue without names is better than none.
    const page = await person.call(listOperators, { limit: operatorsMax }).catch(() => undefined)
    if (page !== undefined) {
      names = new Map(page.data.map(({ id, name }) => [id, name]))
      readAt = performance.now()
    }
  }
  return (operatorId) => names.get(operatorId) ?? operatorId
}
