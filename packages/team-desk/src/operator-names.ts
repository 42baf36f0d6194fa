import { operations, Rejection, type Scope } from '@backoffice/contracts'
import type { RpcClient } from '@backoffice/rpc'
import type { Call } from '@backoffice/service-runtime'

/** A row of a list of the team's, and whom it belongs to. */
interface Owned {
  readonly operatorId: string
}

interface Asking extends Pick<Call, 'requestId' | 'deadline'> {
  readonly rpc: RpcClient
  /** A call between services acts for a brand: here for that of any of the rows. Undefined where there is no row. */
  readonly scope: Scope | undefined
}

/**
 * Adds the names of their operators to the rows of one page, with one call of the gateway. Without a reply they are null: the
 * list matters more than the names.
 */
export async function withOperatorNames<Row extends Owned>(
  rows: readonly Row[],
  { scope, rpc, ...options }: Asking,
): Promise<(Row & { readonly operatorName: string | null })[]> {
  const names = new Map<string, string>()
  if (scope !== undefined) {
    const operatorIds = [...new Set(rows.map(({ operatorId }) => operatorId))]
    const read = rpc.call(operations.gateway.readOperatorNames, { ...options, scope, input: { operatorIds } })
    const { operators } = await read.catch((error) => {
      if (error instanceof Rejection && error.code === 'SERVICE_UNAVAILABLE') return { operators: [] }
      throw error
    })
    for (const { id, name } of operators) names.set(id, name)
  }
  return rows.map((row) => ({ ...row, operatorName: names.get(row.operatorId) ?? null }))
}
