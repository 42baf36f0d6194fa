import type { Input, Operation } from '@backoffice/contracts'
import type { Given } from './options.ts'
import { printJson, printRecord, printTable } from './output.ts'
import { callPages } from './pages.ts'
import { confirm } from './prompt.ts'
import type { AnyRow } from './row.ts'
import type { Session } from './session.ts'

/** What every command takes. */
export interface CommonOptions {
  readonly json?: boolean
  readonly as?: string
  readonly operationId?: string
  readonly yes?: boolean
}

export type OpenSession = (options: CommonOptions) => Promise<Session>

/** Asks if it must, calls the operation, and prints the result: as JSON, or as the row shows it to people. */
export async function run(row: AnyRow, given: Given, options: CommonOptions & { open: OpenSession }): Promise<void> {
  const { json = false, yes = false, operationId } = options
  const session = await options.open(options)
  try {
    if (row.confirm !== undefined && !yes) await confirm(await row.confirm(given, session))
    const input = await withIds(given, row.operation, session)
    const call = () =>
      row.operation.kind === 'query'
        ? callPages(session, row.operation, input as Input<Operation>)
        : session.call(row.operation, input as Input<Operation>, operationId)
    const result = await (row.run?.({ session, input, operationId, json }) ?? call())
    print(row, result, json)
  } finally {
    await session.close()
  }
}

/** People name an operator, and a brand by its operator and environment; operations take ids. */
async function withIds(given: Given, { body }: Operation, session: Session): Promise<Given> {
  const { operatorId, brandId, environment, ...others } = given
  const ids: Record<string, unknown> = others
  if (typeof operatorId === 'string') ids.operatorId = (await session.operator(operatorId)).id
  if (typeof brandId === 'string') ids.brandId = (await session.brand(brandId, String(environment))).id
  if ('environment' in body.properties && environment !== undefined) ids.environment = environment
  return ids
}

function print({ columns, show }: AnyRow, result: unknown, json: boolean): void {
  const { data } = result as { readonly data: readonly never[] }
  if (json) printJson(columns === undefined ? result : data)
  else if (columns !== undefined) printTable(data, columns)
  else if (show !== undefined) show(result)
  else printRecord(result as object)
}
